import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { renderInPage } from '../../../testing/render.ts'

const { CopyButton } = await import('../Copies.tsx')

test('a copy button writes the text to the clipboard and says so', async () => {
  const written: string[] = []
  const clipboard = { writeText: async (text: string) => void written.push(text) }
  Object.defineProperty(navigator, 'clipboard', { value: clipboard, configurable: true })
  const { find, after } = await renderInPage(() =>
    h(CopyButton, { text: 'app_1', action: 'copy-client-id', what: 'Client ID' }),
  )
  const button = find('[data-action="copy-client-id"]')
  assert.match(button.getAttribute('aria-label') ?? '', /Client ID/)
  const before = button.textContent
  await after(() => button.click())
  assert.deepEqual(written, ['app_1'])
  assert.notEqual(button.textContent, before)
  assert.equal(button.getAttribute('aria-label'), null, 'what is announced is the new text')
})
