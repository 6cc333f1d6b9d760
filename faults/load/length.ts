/** How long the tests of faults go on: `npm run faults` sets it; a file that runs alone runs in the short form. */
export const rounds = Number(process.env['FAULT_ROUNDS'] ?? 3)
export const requests = Number(process.env['FAULT_REQUESTS'] ?? 5000)
export const seed = Number(process.env['FAULT_SEED'] ?? 1)
/** Of the worst requests, which take a machine for themselves: `npm run faults -- --hostile`. */
export const hostileSeconds = Number(process.env['HOSTILE_SECONDS'] ?? 300)
