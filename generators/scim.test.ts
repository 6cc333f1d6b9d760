import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { NewScimToken } from '@countersign/protocol/operations/scim-tokens'
import { ask } from '../server/testing/remote-signer.ts'
import { serveHere } from '../server/testing/service-here.ts'
import type { Served } from '../server/testing/service.ts'

const run = promisify(execFile)

let folder: Awaited<ReturnType<typeof mkdtempDisposable>>
let service: Served
before(async () => {
  folder = await mkdtempDisposable(join(tmpdir(), 'countersign-scim-'))
  service = await serveHere()
})
after(async () => {
  await service.close()
  await folder[Symbol.asyncDispose]()
})

test('SCM-18 scim2-tester finds no error', async () => {
  const python = join(folder.path, 'venv/bin/python')
  await run('python3', ['-m', 'venv', join(folder.path, 'venv')])
  const requirements = join(import.meta.dirname, 'scim-requirements.txt')
  await run(python, ['-m', 'pip', 'install', '--quiet', '-r', requirements])
  const json = { name: 'scim2-tester' }
  const made = await ask<NewScimToken>(service, '/api/admin/scim-tokens', { headers: service.admin, json })
  const program = join(import.meta.dirname, 'scim-tester.py')
  const { stdout } = await run(python, [program, made.url, made.token], { maxBuffer: 16 * 1024 ** 2 })
  const lines = stdout.trim().split('\n')
  // The program prints what did not succeed, and then how much it has checked.
  assert.deepEqual(lines.slice(0, -1), [])
  assert.ok(JSON.parse(lines.at(-1) ?? '').count > 60, stdout)
})
