import manifest from '#package.json' with { type: 'json' }

/** The version of this server, as responses carry it in `Countersign-Version`. */
export const { version } = manifest
