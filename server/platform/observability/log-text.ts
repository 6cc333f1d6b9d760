/** How log lines appear on a terminal. */
export type TextOptions = {
  colors: boolean
  /** Addresses that are repeated between the lines, because the banner of the start scrolls away. */
  reminder?: string
}

type Entry = Record<string, unknown>
type Paint = (text: string, ...styles: Style[]) => string
type Style = keyof typeof codes

const codes = { dim: 2, bold: 1, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const
const linesBetweenReminders = 40
const idCharacters = 8

/** Requests that a page makes by the dozen. They are shown if they fail. */
const inBackground = /^\/(?:assets\/|healthz$|readyz$|dev\/mail\/messages$)/

/** Creates the function that turns a JSON line of the log into text: an empty one for what a terminal omits. */
export function createTextFormat({ colors, reminder }: TextOptions): (line: string) => string {
  const paint: Paint = (text, ...styles) =>
    colors ? `${styles.map((style) => `\u001B[${codes[style]}m`).join('')}${text}\u001B[0m` : text
  let lines = 0
  return (line) => {
    const entry: unknown = JSON.parse(line)
    if (!isEntry(entry)) return ''
    const text = textOf(entry, paint)
    if (text === '') return ''
    lines += 1
    const reminds = reminder !== undefined && lines % linesBetweenReminders === 0
    return `${text}\n${reminds ? `${paint(`${clockOf(entry)}  ${reminder}`, 'dim')}\n` : ''}`
  }
}

function textOf(entry: Entry, paint: Paint): string {
  const time = paint(clockOf(entry), 'dim')
  if (isEntry(entry['mail'])) return `${time}  ${mailOf(entry['mail'], paint)}`
  const isRequest = typeof entry['requestId'] === 'string' && typeof entry['status'] === 'number'
  return isRequest ? requestOf(entry, time, paint) : messageOf(entry, time, paint)
}

/** Method, path as a pattern, status, duration and ID. A path itself can contain a secret, such as an invitation. */
function requestOf(entry: Entry, time: string, paint: Paint): string {
  const status = Number(entry['status'])
  const route = printable(entry['route'])
  if (status < 400 && inBackground.test(route)) return ''
  const id = printable(entry['requestId'])
  return [
    time,
    paint(printable(entry['method']).padEnd(6), 'bold'),
    paint(String(status), styleOf(status)),
    route === 'none' ? '(unknown path)' : route,
    ...(entry['refusal'] === undefined ? [] : [paint(printable(entry['refusal']), styleOf(status))]),
    ...(entry['milliseconds'] === undefined ? [] : [paint(`${printable(entry['milliseconds'])} ms`, 'dim')]),
    // A report of a failure quotes the whole ID.
    paint(status < 400 ? id.slice(0, idCharacters) : id, 'dim'),
  ].join('  ')
}

function styleOf(status: number): Style {
  if (status >= 500) return 'red'
  if (status >= 400) return 'yellow'
  return status >= 300 ? 'cyan' : 'green'
}

function mailOf(mail: Entry, paint: Paint): string {
  const { to, subject, inbox } = mail
  const place = inbox === undefined ? '' : `  ${paint(printable(inbox), 'cyan')}`
  return `${paint('mail  ', 'blue', 'bold')}  ${printable(to)}  ${printable(subject)}${place}`
}

const ownFields = ['level', 'time', 'msg', 'error']

function messageOf(entry: Entry, time: string, paint: Paint): string {
  const { name, style } = levelOf(Number(entry['level']))
  const fields = Object.entries(entry).filter(([key]) => !ownFields.includes(key))
  const written = fields.map(([key, value]) => `${paint(`${printable(key)}=`, 'dim')}${printable(value)}`)
  const parts = [time, paint(name.padEnd(6), style, 'bold'), printable(entry['msg'] ?? ''), ...written]
  const { error } = entry
  if (!isEntry(error)) return parts.join('  ')
  const stack =
    typeof error['stack'] === 'string' ? error['stack'] : `${String(error['name'])}: ${String(error['message'])}`
  const trace = stack.split('\n').map((each) => `          ${paint(printable(each), 'dim')}`)
  return [parts.join('  '), ...trace].join('\n')
}

function levelOf(level: number): { name: string; style: Style } {
  if (level >= 60) return { name: 'fatal', style: 'red' }
  if (level >= 50) return { name: 'error', style: 'red' }
  if (level >= 40) return { name: 'warn', style: 'yellow' }
  return level >= 30 ? { name: 'info', style: 'blue' } : { name: 'debug', style: 'dim' }
}

function clockOf({ time }: Entry): string {
  const date = new Date(Number(time))
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
}

/** A terminal would obey control characters of a name or an error. They are written as escapes instead. */
function printable(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
  })
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null
}
