import type en from './locales/en';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'common';
    // A key that no file has is an error of the compiler.
    resources: typeof en;
  }
}
