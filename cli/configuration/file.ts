import { readFileSync, statSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { ConfigurationDocument } from '@countersign/protocol/operations/configuration'
import { isAlias, isCollection, isMap, isScalar, parseAllDocuments, visit, type Document } from 'yaml'
import { CliError, fieldsOf, listOf, textOf } from '../terminal.ts'

const bytesMax = 1024 * 1024

/** Reads a configuration from a file, or from standard input if its name is `-`. Resolves its secrets. */
export async function readConfiguration(file: string): Promise<ConfigurationDocument> {
  const written = parseConfiguration(await readText(file))
  // The server checks it by its schema.
  return withSecrets(written) as ConfigurationDocument
}

async function readText(file: string): Promise<string> {
  if (file === '-') return requireSize(await text(process.stdin))
  try {
    if (statSync(file).size > bytesMax) throw tooLarge()
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    throw new CliError(`cannot read ${file}`, { cause })
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
 * seems to: anchors, tags, duplicate keys, several documents.
 */
export function parseConfiguration(written: string): Record<string, unknown> {
  const documents = parseAllDocuments(requireSize(written), { version: '1.2', schema: 'core', uniqueKeys: true })
  const [document, other] = 'empty' in documents ? [] : documents
  if (!document || other) throw new CliError('the file must contain one document')
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw new CliError(firstLine(problem.message))
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
    if (key === 'key' && !(isScalar(node) && typeof node.value === 'string'))
      throw new CliError('a key of the file is no text')
  })
}

/** Puts secrets in place of their references. */
function withSecrets(document: Record<string, unknown>): Record<string, unknown> {
  return {
    ...document,
    ...(Array.isArray(document['apps']) && { apps: listOf(document['apps']).map(withAppSecrets) }),
    ...(Array.isArray(document['sinks']) && { sinks: listOf(document['sinks']).map(withHeaders) }),
  }
}

function withHeaders(sink: unknown): unknown {
  const fields = fieldsOf(sink)
  const headers = Object.entries(fieldsOf(fields['headers']))
  if (headers.length === 0) return sink
  const object = `sinks/${textOf(fields['key'])}`
  const resolved = headers.map(
    ([name, reference]) => [name, resolve(reference, `header ${name} of ${object}`)] as const,
  )
  return { ...fields, headers: Object.fromEntries(resolved) }
}

function withAppSecrets(app: unknown): unknown {
  const fields = fieldsOf(app)
  const webhook = fieldsOf(fields['webhook'])
  if (!('clientSecret' in fields) && !('secret' in webhook)) return app
  const object = `apps/${textOf(fields['key'])}`
  return {
    ...withSecret(fields, 'clientSecret', object),
    ...('secret' in webhook && { webhook: withSecret(webhook, 'secret', `webhook of ${object}`) }),
  }
}

function withSecret(fields: Record<string, unknown>, name: string, object: string): Record<string, unknown> {
  return name in fields ? { ...fields, [name]: resolve(fields[name], `${name} of ${object}`) } : fields
}

function resolve(reference: unknown, what: string): string {
  const { fromEnv, fromFile, ...rest } = fieldsOf(reference)
  const [variable, file] = [textOf(fromEnv), textOf(fromFile)]
  if ((variable === '') === (file === '') || Object.keys(rest).length > 0)
    throw new CliError(`${what} must be { fromEnv: NAME } or { fromFile: path }: a file contains no secret`)
  const secret = variable === '' ? readSecret(file, what) : (process.env[variable] ?? '').trim()
  if (secret === '') throw new CliError(`${what}: ${variable || file} is empty`)
  return secret
}

function readSecret(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new CliError(`${what}: cannot read ${file}`, { cause })
  }
}
