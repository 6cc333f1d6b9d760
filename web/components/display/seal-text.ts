/** As much as the rim of the seal has room for. */
const charactersMax = 58

/**
 * Returns the text around the rim of the seal: the time, and as much of the key's fingerprint as there is room for. It
 * is an ornament, and hidden from screen readers.
 */
export function sealText(time: string, fingerprint: string): string {
  const begin = `COUNTERSIGNED · ${time.toUpperCase()} · KEY`
  const groups = fingerprint.toUpperCase().split(' ')
  const room = charactersMax - begin.length - ' ·'.length
  const shown = groups.slice(0, Math.max(1, Math.floor(room / ' 0000'.length)))
  return `${begin} ${shown.join(' ')} ·`
}
