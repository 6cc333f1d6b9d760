import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inherited } from '../testing/environment.ts'

const root = join(import.meta.dirname, '../..')
const manyCommands = join(import.meta.dirname, '../testing/many-commands.ts')
const groups =
  'apply|export|apps|groups|resources|webhooks|people|organizations|operators|tokens|scim-tokens|' +
  'settings|audit|keys|backup|restore|trust|doctor'
const shown = new RegExp(String.raw`\bcountersign ((?:${groups})\b[^#\x60\n]*)`, 'g')

/** No server listens there: a valid command fails, and changes nothing. */
const environment = {
  ...inherited,
  BASE_URL: 'http://localhost:9',
  ADMIN_TOKEN: 'a-token-for-tests-of-at-least-32-characters',
  BACKUP_PASSPHRASE: 'four words that are long',
}
const notUnderstood = /unknown (command|option)|missing required|required option|too many arguments/

/** Returns every command in the code blocks of a page, as the words that a shell would split it into. */
function commandsShown(): Map<string, string[]> {
  const pages = globSync('{*.md,docs/**/*.md}', { cwd: root, exclude: ['CHANGELOG.md'] })
  const blocks = pages.flatMap(
    (page) => readFileSync(join(root, page), 'utf8').match(/^ *```sh\n[\s\S]*?^ *```$/gm) ?? [],
  )
  const lines = blocks.map((block) => block.replaceAll(/\\\n\s*/g, ''))
  const commands = lines.flatMap((text) => [...text.matchAll(shown)].map(([, command = '']) => command.trim()))
  const words = (command: string) => command.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", '')) ?? []
  return new Map(commands.map((command) => [command, words(command)]))
}

test('every command in the documentation exists', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-'))
  t.after(() => rm(folder, { recursive: true }))
  const commands = commandsShown()
  assert.ok(commands.size > 10)
  const written = runEach([...commands.values()], folder)
  for (const [nth, command] of [...commands.keys()].entries()) {
    assert.ok(written[nth], `${command} has written nothing`)
    assert.doesNotMatch(written[nth], notUnderstood, command)
    assert.doesNotMatch(written[nth], /\n {4}at /, command)
  }
})

/** Runs the commands in a folder; returns what each wrote. */
function runEach(commands: string[][], cwd: string): string[] {
  const each = commands.map((words) => words.join('\n'))
  const options = { env: environment, cwd, encoding: 'utf8', timeout: 120_000 } as const
  const { stdout, stderr, error } = spawnSync(process.execPath, [manyCommands, ...each], options)
  assert.deepEqual({ error, stderr }, { error: undefined, stderr: '' })
  return JSON.parse(stdout)
}

/** Instructions for users, by file: the documentation, and the pages and texts of the product. */
function pagesShown(): [file: string, text: string][] {
  const documents = ['{*.md,docs/**/*.md,examples/*/README.md,sdk/README.md}', '{server,web,cli}/**/*.{ts,tsx,html}']
  const exclude = ['CHANGELOG.md', '**/*.test.ts', '**/{node_modules,dist,testing}/**']
  return globSync(documents, { cwd: root, exclude }).map((file) => [file, readFileSync(join(root, file), 'utf8')])
}

test('CLI-13 packages in guides and pages are pinned to the version that their sample is tested with', () => {
  const lines = pagesShown().flatMap(([, text]) => [...text.matchAll(/\bnpm install\b([^`'\n{<#]*)/g)])
  const words = lines.flatMap(([, packages = '']) => packages.split(' ').filter((word) => word !== ''))
  const installed = words.filter((word) => !word.startsWith('-'))
  assert.ok(installed.length > 8)
  const lock: { packages: Record<string, { version?: string }> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  for (const each of installed) {
    const [, name = '', version] = /^(@?[^@]+)(?:@(.+))?$/.exec(each) ?? []
    const tested = lock.packages[`e2e/node_modules/${name}`] ?? lock.packages[`node_modules/${name}`]
    assert.ok(tested?.version, `${each} is not the tested version of a sample`)
    assert.equal(version, tested.version, each)
  }
})

/** Other ways to install; a page that needs one gets a test like that of `npm install`. */
const otherInstallers = [
  /\bnpm (?:i|in|add)\b/,
  /\b(?:yarn|pnpm|bun) (?:global )?(?:add|install|i)\b/,
  /\b(?:pip3?|pipx|uv|uv pip|go|brew|gem|cargo) install\b/,
]

test('CLI-13 packages are installed with `npm install` only', () => {
  for (const [file, text] of pagesShown())
    for (const installer of otherInstallers) assert.doesNotMatch(text, installer, file)
})

/** Commands that run a package by name, and download it if it is missing. */
const runners = /\bnpx\b(?! --no-install )|\bnpm (?:exec|x|create|init)\b|\b(?:pnpm|yarn) dlx\b|\bbunx\b|\bbun x\b/

test('CLI-14 no page makes readers download the command from a registry', () => {
  for (const [file, text] of pagesShown()) assert.doesNotMatch(text, runners, file)
})
