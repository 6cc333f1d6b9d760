import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ConfigurationDocument } from '@countersign/protocol/operations/configuration'
import { isAlias, isCollection, isMap, isScalar, parseAllDocuments, visit, type Document } from 'yaml'
import { reasonOf } from '../call.ts'
import { findAdminToken, type Settings } from '../settings.ts'
import { CliError, fieldsOf, listOf, textOf } from '../terminal.ts'

const bytesMax = 1024 * 1024

/** Where a secret was found: the object and the path of a change, and in `from` a variable or a file. */
export type Origin = { object: string; path: string; from: string }

/** A configuration with its secrets in place of their references, and where they were found. */
export type Configuration = { document: ConfigurationDocument; origins: Origin[] }

/** Reads a configuration from a file, or from standard input if its name is `-`. Resolves its secrets. */
export async function readConfiguration(file: string, settings: Settings): Promise<Configuration> {
  const written = parseConfiguration(await readText(file))
  const resolving: Resolving = { settings, origins: [] }
  // The server checks it by its schema.
  return { document: withSecrets(written, resolving) as ConfigurationDocument, origins: resolving.origins }
}

async function readText(file: string): Promise<string> {
  if (file === '-') return requireSize(await text(process.stdin))
  try {
    if (statSync(file).size > bytesMax) throw tooLarge()
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    throw new CliError(`cannot read ${file} (${reasonOf(cause)})`, { cause })
  }
}

function requireSize(written: string): string {
  if (Buffer.byteLength(written) > bytesMax) throw tooLarge()
  return written
}

function tooLarge(): CliError {
  return new CliError('the file is larger than 1 MiB: split it')
}

/**
 * Parses YAML 1.2 of the core schema, which includes JSON. Throws for what would let a file mean something else than it
 * seems to: anchors, tags, duplicate keys, several documents, another version of YAML, and numbers that JSON does not
 * have, which would be sent as null.
 */
export function parseConfiguration(written: string): Record<string, unknown> {
  const documents = parseAllDocuments(requireSize(written), { version: '1.2', schema: 'core', uniqueKeys: true })
  const [document, other] = 'empty' in documents ? [] : documents
  if (!document || other) throw new CliError('the file must contain one document')
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw new CliError(firstLine(problem.message))
  if (document.directives?.yaml.explicit) throw new CliError('the file has the directive %YAML: it is always 1.2')
  requirePlain(document)
  const value: unknown = document.toJS()
  if (!isMap(document.contents)) throw new CliError('the file must contain keys and values')
  return fieldsOf(value)
}

function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/:$/, '')
}

function requirePlain(document: Document): void {
  visit(document, (key, node) => {
    if (isAlias(node)) throw new CliError(`the file has the alias *${node.source}: repeat the value`)
    if (!isScalar(node) && !isCollection(node)) return
    if (node.anchor !== undefined) throw new CliError(`the file has the anchor &${node.anchor}: repeat the value`)
    if (node.tag !== undefined) throw new CliError(`the file has the tag ${node.tag}`)
    if (isScalar(node) && typeof node.value === 'number' && !Number.isFinite(node.value))
      throw new CliError(`the file has the number ${node.source}, which JSON does not have`)
    if (key === 'key' && !(isScalar(node) && typeof node.value === 'string'))
      throw new CliError('a key of the file is no text')
  })
}

/** The settings of the command, and where it has found secrets so far. */
type Resolving = { settings: Settings; origins: Origin[] }

/** Puts secrets in place of their references. */
function withSecrets(document: Record<string, unknown>, resolving: Resolving): Record<string, unknown> {
  const { apps, sinks } = document
  return {
    ...document,
    ...(Array.isArray(apps) && { apps: listOf(apps).map((app) => withAppSecrets(app, resolving)) }),
    ...(Array.isArray(sinks) && { sinks: listOf(sinks).map((sink) => withHeaders(sink, resolving)) }),
  }
}

function withHeaders(sink: unknown, resolving: Resolving): unknown {
  const fields = fieldsOf(sink)
  const headers = Object.entries(fieldsOf(fields['headers']))
  if (headers.length === 0) return sink
  const object = `sinks/${textOf(fields['key'])}`
  const resolved = headers.map(([name, reference]) => {
    const secret = { object, path: `headers.${name}`, what: `header ${name} of ${object}` }
    return [name, resolve(reference, secret, resolving)] as const
  })
  return { ...fields, headers: Object.fromEntries(resolved) }
}

function withAppSecrets(app: unknown, resolving: Resolving): unknown {
  const fields = fieldsOf(app)
  const webhook = fieldsOf(fields['webhook'])
  const object = `apps/${textOf(fields['key'])}`
  const [clientSecret, secret] = [
    { object, path: 'clientSecret', what: `clientSecret of ${object}` },
    { object, path: 'webhook.secret', what: `secret of webhook of ${object}` },
  ]
  if (!('clientSecret' in fields) && !('secret' in webhook)) return app
  return {
    ...fields,
    ...('clientSecret' in fields && { clientSecret: resolve(fields['clientSecret'], clientSecret, resolving) }),
    ...('secret' in webhook && { webhook: { ...webhook, secret: resolve(webhook['secret'], secret, resolving) } }),
  }
}

/** A secret of the file: the object and path of its change, and what errors call it. */
type Secret = Pick<Origin, 'object' | 'path'> & { what: string }

function resolve(reference: unknown, { what, ...place }: Secret, { settings, origins }: Resolving): string {
  const { fromEnv, fromFile, ...rest } = fieldsOf(reference)
  const [variable, file] = [textOf(fromEnv), textOf(fromFile)]
  if ((variable === '') === (file === '') || Object.keys(rest).length > 0)
    throw new CliError(`${what} must be { fromEnv: NAME } or { fromFile: path }: a file contains no secret`)
  if (ofService.includes(variable) || (file !== '' && isOfService(file, settings))) throw ofServiceError(what)
  const secret = variable === '' ? readSecret(file, what) : (process.env[variable] ?? '').trim()
  if (secret === '') throw new CliError(`${what}: ${variable || file} is empty`)
  if (containsToken(secret, findAdminToken(settings))) throw ofServiceError(what)
  origins.push({ ...place, from: variable === '' ? `the file ${file}` : `the variable ${variable}` })
  return secret
}

/**
 * Variables with secrets of the service. Who writes a file chooses the receivers of its headers, and must not get what
 * the one who applies it holds.
 */
const ofService = [
  'ADMIN_TOKEN',
  'DATABASE_READ_URL',
  'DATABASE_URL',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'SECRET_KEY',
  'SMTP_URL',
]
const filesOfService = ['admin-token', 'secret-key', 'setup-link']

function isOfService(file: string, { dataDir }: Settings): boolean {
  const path = realPathOf(file)
  return path !== undefined && filesOfService.some((name) => realPathOf(join(dataDir, name)) === path)
}

/** Checks if a text contains the admin token. A shorter one is none, such as `off`. */
function containsToken(secret: string, adminToken: string | undefined): boolean {
  return adminToken !== undefined && adminToken.length >= adminTokenCharactersMin && secret.includes(adminToken)
}

const adminTokenCharactersMin = 32

/** Returns the path of a file without symbolic links, or undefined if it does not exist. */
function realPathOf(file: string): string | undefined {
  try {
    return realpathSync(file)
  } catch {
    return undefined
  }
}

function ofServiceError(what: string): CliError {
  return new CliError(`${what} must not be a secret of the service: a file could send it to others`)
}

function readSecret(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new CliError(`${what}: cannot read ${file} (${reasonOf(cause)})`, { cause })
  }
}
