interface ImportMetaEnv {
  /** `1`: the host is simulated, for a plain browser. */
  readonly VITE_MOCK?: string;
}
