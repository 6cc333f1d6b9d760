import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { componentsOf, readLockFile } from '../sbom.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/security/dependencies.md'), 'utf8')
/** The packages of ours that take part in what runs. */
const workspaces = ['', 'protocol', 'keys', 'saml', 'server', 'web', 'cli']

test('SUP-03 every dependency of what runs is written down, with who keeps it and what it is for, and no other', () => {
  const { packages } = readLockFile()
  const declared = workspaces.flatMap((place) => {
    const { dependencies = {}, optionalDependencies = {} } = packages[place] ?? {}
    return Object.keys({ ...dependencies, ...optionalDependencies })
  })
  const external = new Set(declared.filter((name) => !name.startsWith('@countersign/')))
  const rows = [...page.matchAll(/^\| (`.+) \| .+ \| .+ \|$/gm)]
  const written = rows.flatMap(([, names = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
  assert.deepEqual(written.toSorted(), [...external].toSorted())
})

test('SUP-03 the bill of materials names every package that runs, with its license and digest', () => {
  const bill = JSON.parse(execFileSync(process.execPath, [join(root, 'tools/sbom.ts')], { encoding: 'utf8' }))
  assert.deepEqual([bill.bomFormat, bill.specVersion], ['CycloneDX', '1.6'])
  const components = componentsOf(readLockFile())
  assert.match(page, new RegExp(`\\*\\*${components.length} packages\\*\\*`))
  const names = new Set(components.map(({ name, version }) => `${name}@${version}`))
  for (const { name, license, integrity, needs } of components) {
    assert.notEqual(license, '', name)
    assert.match(integrity, /^sha512-/, name)
    for (const each of needs) assert.ok(names.has(each), each)
  }
})

test('SUP-02 every package is the one of the registry whose bytes the lock file knows', () => {
  const brought = Object.entries(readLockFile().packages).filter(
    ([place, { link }]) => place.includes('node_modules/') && !link,
  )
  assert.ok(brought.length > 100)
  for (const [place, { resolved, integrity = '' }] of brought) {
    // Where it says no address, npm asks the registry; another address would be another source.
    assert.match(resolved ?? 'https://registry.npmjs.org/', /^https:\/\/registry\.npmjs\.org\//, place)
    assert.match(integrity, /^sha512-/, place)
  }
})

test('SUP-01 no package in the lock file has an install script', () => {
  const scripted = Object.entries(readLockFile().packages).filter(([, { hasInstallScript }]) => hasInstallScript)
  assert.deepEqual(
    scripted.map(([place]) => place),
    [],
  )
})
