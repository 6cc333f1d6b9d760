/** How long the tests of faults go on: `npm run faults` sets it; a file that runs alone runs in the short form. */
export const rounds = Number(process.env['FAULT_ROUNDS'] ?? 3)
