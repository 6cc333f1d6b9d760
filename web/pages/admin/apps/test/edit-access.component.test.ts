import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { App } from '@countersign/protocol/clients/apps'
import { isObject } from '@countersign/protocol/formats/json'
import { h } from 'preact'
import { useState } from 'preact/hooks'
import { event, type } from '../../../../testing/render.ts'
import { pageApp } from '../../../../testing/developer-pages.ts'
import { renderForOperator } from '../../../../testing/operator-pages.ts'
import { Refused } from '../../../../testing/scripted-page.ts'

const { EditAccess } = await import('../EditAccess.tsx')

const restricted = { mode: 'restricted', groups: ['eng'], organizations: [], contact: null } as const
const ledger: App = pageApp('Ledger', { access: { ...restricted, groups: ['eng'], organizations: [] } })

/** Opens the dialog of an app. The service saves the app as `now`, and another version not at all. */
async function openDialog(now: App) {
  let isOpen = true
  const page = await renderForOperator(
    () => {
      const [app, setApp] = useState(ledger)
      return h(EditAccess, { app, onChanged: setApp, onClose: () => (isOpen = false) })
    },
    ({ name, headers, body }) => {
      if (name.startsWith('GET')) return now
      if (headers.get('if-match') !== `"${now.version}"`) return new Refused(412, 'version_mismatch')
      return isObject(body) ? { ...now, ...body } : undefined
    },
  )
  const enter = (name: string, text: string) => page.after(() => type(page.find(`input[name="${name}"]`), text))
  const shown = (name: string) => Reflect.get(page.find(`input[name="${name}"]`), 'value')
  const save = () => page.after(() => page.find('dialog form').dispatchEvent(event('submit')))
  const changes = () => page.requests.filter(({ name }) => name.startsWith('PATCH'))
  return { ...page, enter, shown, save, changes, isOpen: () => isOpen }
}

test('a change of the access to an app names the version that the operator saw', async () => {
  const { enter, save, changes, isOpen } = await openDialog(ledger)
  await enter('contact', 'help@ledger.example')
  await save()
  assert.deepEqual(
    changes().map(({ headers, body }) => [headers.get('if-match'), body]),
    [['"1"', { access: { ...restricted, contact: 'help@ledger.example' } }]],
  )
  assert.equal(isOpen(), false)
})

test('of two operators who change the access to an app, the second one sees what the first one changed', async () => {
  const access = { ...restricted, groups: ['eng', 'finance'], organizations: ['acme'] }
  const { enter, shown, save, changes, text, isOpen } = await openDialog({ ...ledger, version: '2', access })
  await enter('groups', 'eng ops')
  await enter('contact', 'help@ledger.example')
  await save()
  assert.match(text(), /changed in the meantime. Nothing was saved/)
  assert.equal(isOpen(), true)
  assert.deepEqual(
    ['groups', 'organizations', 'contact'].map(shown),
    ['eng finance', 'acme', 'help@ledger.example'],
    'both have changed the groups',
  )
  await save()
  assert.deepEqual(changes().at(-1)?.body, { access: { ...access, contact: 'help@ledger.example' } })
  assert.equal(isOpen(), false)
})

test('what an operator entered about the access stays when something else of the app has changed', async () => {
  const { find, click, enter, shown, save, changes } = await openDialog({ ...ledger, version: '2', name: 'Cash book' })
  await click('input[name="mode"][value="none"]')
  await enter('groups', 'eng ops')
  await save()
  assert.equal(shown('groups'), 'eng ops')
  assert.equal(Reflect.get(find('input[name="mode"][value="none"]'), 'checked'), true)
  await save()
  assert.deepEqual(changes().at(-1)?.body, { access: { ...restricted, mode: 'none', groups: ['eng', 'ops'] } })
})
