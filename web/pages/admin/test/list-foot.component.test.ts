import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { useState } from 'preact/hooks'
import { renderInPage } from '../../../testing/render.ts'

const { ListFoot } = await import('../reading/More.tsx')

test('a list announces how much it shows, when it was read and when more of it was read', async () => {
  const { find, after } = await renderInPage(() => {
    const [items, setItems] = useState<string[]>()
    const nextCursor = items?.length === 3 ? null : '2'
    const readMore = async () => setItems((read = []) => [...read, ...(read.length === 0 ? ['a', 'b'] : ['c'])])
    const first = h('button', { id: 'first', type: 'button', onClick: () => void readMore() })
    return h('div', {}, first, h(ListFoot<string>, { of: { value: items && { items, nextCursor }, readMore } }))
  })
  const region = find('[role="status"]')
  region.setAttribute('data-seen', '')
  assert.equal(region.textContent, '')
  await after(() => find('#first').click())
  assert.equal(find('[data-seen]').textContent, '2 shown')
  await after(() => find('[data-action="more"]').click())
  assert.equal(find('[data-seen]').textContent, '3 shown')
})
