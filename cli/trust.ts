import { writeFileSync } from 'node:fs'
import { type NoteKey, parseVerifierKey, toTrustedLog } from '@countersign/protocol/formats/signing/checkpoint'
import { verifyCheckpoint } from '@countersign/protocol/formats/signing/key-inclusion'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import type { Command } from 'commander'
import { parseJsonResponse, reach, readText, reasonOf } from './call.ts'
import { type Settings, settingsOf } from './settings.ts'
import { CliError, fieldsOf, printJson, stripControlCharacters, textOf } from './terminal.ts'
import { readTrustFile, toLogKeys } from './trust-file.ts'

type Options = { out: string; force?: true }

const { sha256 } = nodeSuite

export function addInit(trust: Command): void {
  trust
    .command('init')
    .description('fetch the key of the transparency log, and write the file that the SDK verifies with')
    .option('--out <file>', 'file to write', 'trust.json')
    .option('--force', 'replace the file if it exists')
    .action(async ({ out, force }: Options, command: Command) => {
      const settings = settingsOf(command)
      const key = await fetchKey(settings)
      write(out, `${JSON.stringify(toTrustedLog(sha256, key), null, 2)}\n`, force === true)
      if (settings.json) return printJson({ file: out, ...describe(key) })
      print(key)
      console.log(`Wrote ${out}. Compare the fingerprint with the one that the operator publishes.`)
    })
}

export function addShow(trust: Command): void {
  trust
    .command('show')
    .description('print the log in a trust file, and the fingerprint of its key')
    .argument('[file]', 'file of `countersign trust init`', 'trust.json')
    .action((file: string, _options: unknown, command: Command) => {
      const key = readTrustFile(file)
      if (settingsOf(command).json) return printJson(describe(key))
      print(key)
    })
}

/** Fetches the key of the log, and checks that the log is signed with it. */
async function fetchKey({ baseUrl }: Settings): Promise<NoteKey> {
  const [keys, checkpoint] = await Promise.all([
    fetchOk(`${baseUrl}/api/transparency/jwks`).then(parseJsonResponse),
    fetchOk(`${baseUrl}/api/transparency/checkpoint`).then(readText),
  ])
  const key = parseVerifierKey(sha256, textOf(fieldsOf(keys)['verifierKey']))
  if (!key) throw new CliError('the server does not return the key of its log')
  if (!verifyCheckpoint(nodeSuite, checkpoint, key))
    throw new CliError(`the checkpoint is not signed by the key of the log ${key.name}`)
  return key
}

async function fetchOk(url: string): Promise<Response> {
  const response = await reach(url)
  if (!response.ok) throw new CliError(`${url} returned ${response.status}`)
  return response
}

/** Describes a key: `fingerprint` is its thumbprint (RFC 7638), the `kid` that the server publishes. */
function describe(key: NoteKey): { origin: string; verifierKey: string; fingerprint: string } {
  const { origin, verifierKey } = toTrustedLog(sha256, key)
  const [{ kid }] = toLogKeys(key).keys
  return { origin, verifierKey, fingerprint: kid }
}

function print(key: NoteKey): void {
  const { origin, verifierKey, fingerprint } = describe(key)
  const lines = [`log          ${origin}`, `key          ${verifierKey}`, `fingerprint  ${fingerprint}`]
  for (const line of lines) console.log(stripControlCharacters(line))
}

function write(file: string, text: string, force: boolean): void {
  try {
    writeFileSync(file, text, { flag: force ? 'w' : 'wx' })
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')
      throw new CliError(existing(file), { cause })
    throw new CliError(`${file} cannot be written (${reasonOf(cause)})`, { cause })
  }
}

const existing = (file: string) =>
  `${file} exists. Compare it with \`countersign trust show ${file}\`; --force replaces it`
