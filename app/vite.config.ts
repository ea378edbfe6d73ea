import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// A page with a simulated host, for a plain browser: `VITE_MOCK=1 vite build`.
const mocked = process.env['VITE_MOCK'] === '1';

export default defineConfig({
  plugins: [react(), tailwind()],
  // The goals' kit is linked from this repository and must share this page's React.
  resolve: { dedupe: ['react', 'react-dom', 'radix-ui', '@tauri-apps/api'] },
  build: {
    outDir: mocked ? 'dist-browser' : 'dist',
    // WebKitGTK 2.40, WebView2 and the WebKit of macOS 13.
    target: ['es2022', 'safari16'],
    sourcemap: false,
    // The content policy takes fonts from the app alone: a small one as a data address would be refused.
    assetsInlineLimit: 0,
  },
});
