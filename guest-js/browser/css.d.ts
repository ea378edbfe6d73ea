// Style sheets are vite's.
declare module '*.css';
declare module '@fontsource-variable/inter';
