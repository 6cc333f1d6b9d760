import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { AccountExport } from '@countersign/protocol/accounts/account'
import { loadConfig } from '#platform/config/config.ts'
import type { Module } from '#platform/module/define-module.ts'
import { endOrder, isComplete, modules } from '../modules.ts'

const all: readonly Module<never>[] = modules
const config = loadConfig({ CLIENT_ID_METADATA_DOCUMENTS: 'on' })

/** What a module declares under a key of its own, by the kind of declaration. */
const declared: Record<string, (module: Module<never>) => string[]> = {
  'an endpoint': ({ endpoints = [] }) => endpoints.map(({ name }) => name),
  'an audit action': ({ auditActions = [] }) => [...auditActions],
  'a rate limit': ({ rateLimits = {} }) => Object.keys(rateLimits),
  'a field of the provider metadata': ({ metadata }) => Object.keys(metadata?.(config) ?? {}),
  'a webhook event': ({ webhookEvents = [] }) => [...webhookEvents],
  'a table': ({ tables = {} }) => Object.keys(tables),
  'a cleanup task': ({ cleanupTasks = {} }) => Object.keys(cleanupTasks),
  'a maintenance task': ({ maintenanceTasks = {} }) => Object.keys(maintenanceTasks),
  'a field of the export of an account': ({ exported }) => Object.keys(exported?.account ?? {}),
  'a field of the export of an identity': ({ exported }) => Object.keys(exported?.identity ?? {}),
}

test('everything that must have a module has one, which the compiler checks', () => {
  assert.ok(isComplete.every((part) => part))
})

for (const [what, names] of Object.entries(declared))
  test(`${what} belongs to one module`, () => {
    const found = all.flatMap(names)
    assert.ok(found.length > 3)
    assert.deepEqual(
      found.filter((name, index) => found.indexOf(name) !== index),
      [],
    )
  })

test('each module of the deletion order has a part in it, and stands in it once', () => {
  for (const [what, order] of Object.entries(endOrder)) {
    const withPart = all.filter(({ ended }) => Object.keys(ended ?? {}).includes(what)).map(({ name }) => name)
    assert.deepEqual([...order].toSorted(), withPart.toSorted(), what)
  }
})

test('the export has each field that a table of users names', () => {
  const { identities, ...account } = AccountExport.properties
  const ofIdentity = Object.keys(identities.items.properties).map((field) => `identities.${field}`)
  const fields = new Set<unknown>([...Object.keys(account), 'identities', ...ofIdentity])
  const named = all.flatMap(({ tables = {} }) => Object.values(tables).flatMap((policy) => policy?.export ?? []))
  assert.ok(named.length > 50)
  assert.deepEqual(
    named.filter((field) => typeof field === 'string' && !fields.has(field)),
    [],
  )
})

test('the name of a module is its folder', () => {
  const folders = globSync('*/*/module.ts', { cwd: join(import.meta.dirname, '..') }).map((path) => dirname(path))
  const names = all.map(({ name }) => (name === 'platform' ? 'platform/process' : name))
  assert.deepEqual(names.toSorted(), folders.toSorted())
})
