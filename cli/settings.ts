import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Option, type Command } from 'commander'
import { Failure } from './failure.ts'

/** What every command needs to know. Both URLs are origins, without a slash at the end. */
export type Settings = { baseUrl: string; authUrl?: string; dataDir: string; json: boolean }

export function addSettings(program: Command): void {
  program
    .option('--json', 'print JSON instead of text', false)
    .addOption(new Option('--base-url <url>', 'the API host').env('BASE_URL').default('http://localhost:4400'))
    .addOption(new Option('--auth-url <url>', 'the issuer, where the API host does not tell').env('AUTH_URL'))
    .addOption(new Option('--data-dir <path>', 'where to find the admin token').env('DATA_DIR').default('./data'))
    .addHelpText(
      'after',
      '\nThe admin token is read from ADMIN_TOKEN, or else from the file admin-token in --data-dir.',
    )
}

export function settingsOf(command: Command): Settings {
  const { baseUrl, authUrl, ...rest } = command.optsWithGlobals<Settings>()
  return { ...rest, baseUrl: originOf(baseUrl), ...(authUrl ? { authUrl: originOf(authUrl) } : {}) }
}

/** Only from the environment or a file: an argument would show the token to every process of the machine. */
export function readAdminToken({ dataDir }: Settings): string {
  const token = process.env.ADMIN_TOKEN?.trim()
  if (token) return requireSendable(token, 'ADMIN_TOKEN')

  const file = join(dataDir, 'admin-token')
  return requireSendable(readTokenFile(file), file)
}

/** What a header cannot carry is refused here: where it is sent, the refusal would quote it. */
function requireSendable(token: string, where: string): string {
  if (/^[\x20-\x7e]*$/.test(token)) return token
  throw new Failure(`The admin token of ${where} must be one line of ASCII`)
}

function readTokenFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new Failure(`No admin token: set ADMIN_TOKEN, or let --data-dir name the folder that has it (not ${file})`, {
      cause,
    })
  }
}

/** The admin token travels with each call, so only `https:` will do, but on this machine. */
function originOf(text: string): string {
  if (!URL.canParse(text)) throw new Failure(`${text} is no URL`)
  const { protocol, origin, hostname } = new URL(text)
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return origin
  throw new Failure(`${text} must begin with https:// (http:// is for localhost)`)
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || /^(127\.[\d.]+|\[::1\])$/.test(hostname)
}
