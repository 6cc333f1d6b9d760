import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Option, type Command } from 'commander'
import { CliError } from './terminal.ts'

/** Settings of every command. Both URLs are origins without a slash at the end. */
export type Settings = { baseUrl: string; authUrl?: string; dataDir: string; json: boolean }

export function addSettings(program: Command): void {
  const baseUrl = new Option('--base-url <url>', 'URL of the API host').default('http://localhost:4400')
  const authUrl = new Option('--auth-url <url>', 'issuer URL, if the API host does not redirect to it')
  const dataDir = new Option('--data-dir <path>', 'folder that contains the admin token').default('./data')
  program
    .option('--json', 'print JSON instead of text', false)
    .addOption(readFrom('BASE_URL', baseUrl))
    .addOption(readFrom('AUTH_URL', authUrl))
    .addOption(readFrom('DATA_DIR', dataDir))
    .addHelpText('after', '\nThe admin token is read from ADMIN_TOKEN, or from the file admin-token in --data-dir.')
}

/** Lets a variable of the environment give an option. An empty variable counts as unset, as for the server. */
function readFrom(variable: string, option: Option): Option {
  return process.env[variable]?.trim() === '' ? option : option.env(variable)
}

export function settingsOf(command: Command): Settings {
  const { baseUrl, authUrl, ...rest } = command.optsWithGlobals<Settings>()
  return { ...rest, baseUrl: originOf(baseUrl), ...(authUrl ? { authUrl: originOf(authUrl) } : {}) }
}

/** Reads the token from the environment or a file only: other processes can read arguments. */
export function loadAdminToken({ dataDir }: Settings): string {
  const token = process.env.ADMIN_TOKEN?.trim()
  if (token) return requireSendable(token, 'ADMIN_TOKEN')

  const file = join(dataDir, 'admin-token')
  return requireSendable(readTokenFile(file), file)
}

/** Returns the token like `loadAdminToken`, or undefined if there is none. */
export function findAdminToken(settings: Settings): string | undefined {
  try {
    return loadAdminToken(settings) || undefined
  } catch (error) {
    if (error instanceof CliError) return undefined
    throw error
  }
}

/** Checks the token before it becomes a header: a later error would quote it. */
function requireSendable(token: string, where: string): string {
  if (/^[\x20-\x7e]*$/.test(token)) return token
  throw new CliError(`The admin token of ${where} must be one line of ASCII`)
}

function readTokenFile(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new CliError(`No admin token: set ADMIN_TOKEN, or pass --data-dir with the folder that contains ${file}`, {
      cause,
    })
  }
}

/** Parses a URL. Each call sends the admin token, so `https:` is required except on this machine. */
function originOf(text: string): string {
  if (!URL.canParse(text)) throw new CliError(`${text} is not a valid URL`)
  const { protocol, origin, hostname } = new URL(text)
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return origin
  throw new CliError(`${text} must begin with https:// (http:// only for localhost)`)
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || /^(127\.[\d.]+|\[::1\])$/.test(hostname)
}
