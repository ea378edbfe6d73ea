import js from '@eslint/js';
import hooks from 'eslint-plugin-react-hooks';
import { defineConfig, globalIgnores } from 'eslint/config';
import ts from 'typescript-eslint';

export default defineConfig(
  globalIgnores(['dist', 'dist-browser']),
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [
      ts.configs.strictTypeChecked,
      ts.configs.stylisticTypeChecked,
      hooks.configs.flat.recommended,
    ],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['tests/**'],
    // The body of a suite is no function that anybody reads from top to bottom.
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: { globals: { process: 'readonly', URL: 'readonly', console: 'readonly' } },
  },
  {
    files: ['browser/*.mjs'],
    // What runs within the page.
    languageOptions: {
      globals: Object.fromEntries(
        [
          'window document URLSearchParams performance getComputedStyle innerWidth',
          'requestAnimationFrame setTimeout sessionStorage',
        ].flatMap((names) => names.split(' ').map((name) => [name, 'readonly'])),
      ),
    },
  },
);
