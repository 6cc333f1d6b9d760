/** A setting that prevents the start. The message names the setting, the problem and the fix in one line. */
export class ConfigError extends Error {}
