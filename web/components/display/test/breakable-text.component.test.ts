import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { renderInPage } from '../../../testing/render.ts'

const { BreakableText } = await import('../BreakableText.tsx')

test('an address in a text may break after its slashes and dots, and in no word', async () => {
  const text = 'In the log https://id.example/log, which had 3 entries.'
  const page = await renderInPage(() => h('p', {}, h(BreakableText, { text })))
  assert.equal(page.text(), text)
  const parts = ['In the log https://', 'id.', 'example/', 'log, which had 3 entries.']
  assert.equal(page.find('p').innerHTML, parts.join('<wbr>'))
})
