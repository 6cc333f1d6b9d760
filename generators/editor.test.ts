import assert from 'node:assert/strict'
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { serveHere } from '../server/testing/service-here.ts'
import type { Served } from '../server/testing/service.ts'

const run = promisify(execFile)
const languageServer = 'yaml-language-server@2.0.0'

type Diagnostic = { message: string; range: { start: { line: number } } }
type Message = {
  id?: number
  method?: string
  params?: { uri?: string; diagnostics?: Diagnostic[]; items?: unknown[] }
  result?: { items?: { label: string }[] }
}

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>
let service: Served
let editor: ReturnType<typeof openEditor>
before(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'countersign-editor-'))
  const options = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', languageServer]
  await run('npm', options, { cwd: folder.path })
  service = await serveHere()
  const program = join(folder.path, 'node_modules/.bin/yaml-language-server')
  editor = openEditor(spawn(program, ['--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] }))
  await editor.ask('initialize', { processId: process.pid, rootUri: null, capabilities: {} })
  editor.send({ method: 'initialized', params: {} })
})
after(async () => {
  editor.close()
  await service.close()
  await folder[Symbol.asyncDispose]()
})

/** Speaks the Language Server Protocol like an editor, with the default settings of the server. */
function openEditor(server: ChildProcessByStdio<Writable, Readable, null>) {
  const waiting: { isMeant: (message: Message) => boolean; take: (message: Message) => void }[] = []
  const send = (message: object) => {
    const content = JSON.stringify({ jsonrpc: '2.0', ...message })
    server.stdin.write(`Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`)
  }
  const take = (message: Message) => {
    const { id, method, params } = message
    // It asks for the settings of the editor, and to hear of changes.
    if (id !== undefined && method !== undefined) send({ id, result: params?.items?.map(() => null) ?? null })
    for (const each of waiting.filter(({ isMeant }) => isMeant(message))) each.take(message)
  }
  let read = Buffer.alloc(0)
  server.stdout.on('data', (chunk: Buffer) => {
    read = Buffer.concat([read, chunk])
    for (;;) {
      const start = read.indexOf('\r\n\r\n') + 4
      const [, length] = /Content-Length: (\d+)/.exec(read.toString('latin1', 0, start)) ?? []
      const end = start + Number(length)
      if (start < 4 || read.length < end) return
      take(JSON.parse(read.toString('utf8', start, end)))
      read = read.subarray(end)
    }
  })
  const next = (isMeant: (message: Message) => boolean) =>
    new Promise<Message>((resolve) => void waiting.push({ isMeant, take: resolve }))
  let requests = 0
  const ask = (method: string, params: object) => {
    const id = (requests += 1)
    const answer = next((message) => message.id === id && message.method === undefined)
    send({ id, method, params })
    return answer
  }
  return {
    send,
    ask,
    /** Opens a file, and returns what the editor marks in it: lines, counted from 1, and messages. */
    async open(name: string, text: string): Promise<[number, string][]> {
      const uri = `file:///${name}`
      const marked = next(({ method, params }) => method === 'textDocument/publishDiagnostics' && params?.uri === uri)
      const textDocument = { uri, languageId: 'yaml', version: 1, text }
      send({ method: 'textDocument/didOpen', params: { textDocument } })
      const { params } = await marked
      return (params?.diagnostics ?? []).map(({ range, message }) => [range.start.line + 1, message])
    },
    close: () => server.kill(),
  }
}

/** The file of the documentation, with the schema of this service. */
async function documentedFile(): Promise<string> {
  const page = await readFile(join(import.meta.dirname, '../docs/operations/configuration.md'), 'utf8')
  const [, file = ''] = /```yaml\n([^]*?)```/.exec(page) ?? []
  assert.match(file, /^# yaml-language-server: \$schema=https:\/\/id\.example\.com\/schema\//)
  return file.replace('https://id.example.com', service.authUrl)
}

test('CNF-16 an editor finds no mistake in the documented file', async () => {
  assert.deepEqual(await editor.open('countersign.yaml', await documentedFile()), [])
})

test('CNF-16 an editor marks mistakes, and a secret in a file', async () => {
  const file = `# yaml-language-server: $schema=${service.authUrl}/schema/countersign-v1.json
apiVersion: countersign/v1
source: platform
settings:
  registration.mode: anyone
groups:
  - { key: Staff }
  - { key: eng, shown: Engineering }
apps:
  - key: grafana
    clientSecret: a-secret-in-clear-text-of-32-characters
    access: { mode: secret }
sinks:
  - { key: siem, kind: syslog, url: 5, headers: { Authorization: Splunk a-key } }
persons: []
`
  const marked = await editor.open('mistakes.yaml', file)
  assert.deepEqual(
    marked.map(([line, message]) => [line, message.split('.')[0]]),
    [
      [5, 'Value is not accepted'],
      [7, 'String does not match the pattern of "^[a-z0-9][a-z0-9'],
      [8, 'Property shown is not allowed'],
      [11, 'Incorrect type'],
      [12, 'Value is not accepted'],
      [14, 'Incorrect type'],
      [14, 'Incorrect type'],
      [15, 'Property persons is not allowed'],
    ],
  )
})

test('CNF-16 an editor offers the values of a setting', async () => {
  const head = `# yaml-language-server: $schema=${service.authUrl}/schema/countersign-v1.json\n`
  const text = `${head}apiVersion: countersign/v1\nsource: platform\nsettings:\n  registration.mode: \n`
  await editor.open('offers.yaml', text)
  const { result } = await editor.ask('textDocument/completion', {
    textDocument: { uri: 'file:///offers.yaml' },
    position: { line: 4, character: 21 },
  })
  const offered = result?.items?.map(({ label }) => label)
  assert.deepEqual(offered, ['open', 'domains', 'invited', 'closed', 'null'])
})
