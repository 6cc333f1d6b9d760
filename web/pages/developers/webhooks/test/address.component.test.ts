import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject } from '@countersign/protocol/formats/json'
import type { Webhook } from '@countersign/protocol/clients/webhooks'
import { h } from 'preact'
import { useState } from 'preact/hooks'
import { asksBeforeUnload, pageApp } from '../../../../testing/developer-pages.ts'
import { event, type } from '../../../../testing/render.ts'
import { renderScripted } from '../../../../testing/scripted-page.ts'

const { useKeptInput } = await import('../../unsaved/kept-input.ts')
const { WebhookAddress } = await import('../WebhookAddress.tsx')

const { clientId, createdAt } = pageApp('Ledger')
const webhook: Webhook = { url: 'https://ledger.example/hook', status: 'active', createdAt, updatedAt: createdAt }

/** Shows the form with the webhook as it is known. `change` is what another tab has done, when the page has read it. */
async function openAddress() {
  let change: (known: Webhook) => void = () => {}
  const page = await renderScripted(
    () => {
      const [known, setKnown] = useState(webhook)
      change = setKnown
      return h(WebhookAddress, { clientId, webhook: known, kept: useKeptInput<string>(), onSet: setKnown })
    },
    ({ body }) => (isObject(body) ? { ...webhook, ...body } : undefined),
  )
  const input = () => page.find('input[name="webhookUrl"]')
  return {
    shown: () => Reflect.get(input(), 'value'),
    enter: (url: string) => page.after(() => type(input(), url)),
    save: () => page.after(() => page.find('form').dispatchEvent(event('submit'))),
    changeElsewhere: (url: string) => page.after(() => change({ ...webhook, url })),
  }
}

test('a URL that was pasted with a space is saved without it, and is nothing to lose then', async () => {
  const { shown, enter, save } = await openAddress()
  await enter('https://ledger.example/events ')
  assert.equal(asksBeforeUnload(), true)
  await save()
  assert.deepEqual([shown(), asksBeforeUnload()], ['https://ledger.example/events', false])
})

test('a URL that is not edited here follows the one of another tab', async () => {
  const { shown, enter, changeElsewhere } = await openAddress()
  await changeElsewhere('https://ledger.example/elsewhere')
  assert.deepEqual([shown(), asksBeforeUnload()], ['https://ledger.example/elsewhere', false])
  await enter('https://ledger.example/own')
  await changeElsewhere('https://ledger.example/again')
  assert.deepEqual([shown(), asksBeforeUnload()], ['https://ledger.example/own', true])
})
