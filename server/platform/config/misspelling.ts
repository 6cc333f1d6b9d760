/**
 * Returns the setting that a variable probably misspells. Detected are a single letter that is missing, added, wrong or
 * swapped, another letter case, and other separators. The first letter must match, because OAUTH_URL is not AUTH_URL.
 * For short names, which resemble each other too much, only case and separators are checked.
 */
export function suggestSetting(variable: string, settings: readonly string[]): string | undefined {
  if (settings.includes(variable)) return undefined
  return settings.find((setting) => plain(variable) === plain(setting) || isOneSlipFrom(variable, setting))
}

const shortestCompared = 8

function plain(name: string): string {
  return name.replaceAll(/[-_.]/g, '').toUpperCase()
}

function isOneSlipFrom(variable: string, setting: string): boolean {
  if (setting.length < shortestCompared || Math.abs(variable.length - setting.length) > 1) return false
  let start = 0
  while (start < variable.length && variable[start] === setting[start]) start += 1
  if (start === 0) return false
  const [ours, theirs] = [setting.slice(start), variable.slice(start)]
  const swapped = `${ours[1] ?? ''}${ours[0] ?? ''}${ours.slice(2)}`
  return ours.slice(1) === theirs || ours === theirs.slice(1) || ours.slice(1) === theirs.slice(1) || swapped === theirs
}
