import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { asksBeforeUnload } from '../../../testing/developer-pages.ts'
import { renderScripted } from '../../../testing/scripted-page.ts'

const { useUnsaved } = await import('../draft.ts')
const { useSignOut } = await import('../use-sign-out.ts')

test('the browser asks before the user leaves a draft, and not once the session has ended', async () => {
  let isAsking: boolean | undefined
  const { click } = await renderScripted(
    () => {
      useUnsaved(true)
      const { leave } = useSignOut()
      return h('button', { type: 'button', onClick: leave })
    },
    ({ name }) => (name === 'DELETE /api/auth/session' ? null : undefined),
  )
  assert.equal(asksBeforeUnload(), true)
  location.assign = () => {
    isAsking = asksBeforeUnload()
  }
  await click('button')
  assert.equal(isAsking, false)
})
