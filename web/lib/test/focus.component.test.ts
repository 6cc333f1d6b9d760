import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { renderScripted } from '../../testing/scripted-page.ts'
import { focusAgain } from '../focus.ts'

/** Returns the options with which the heading of the page gets the focus. */
async function focusesOfHeading(before: () => Element) {
  const { find } = await renderScripted(
    () => h('main', {}, h('h1', { tabIndex: -1 }, 'Apps')),
    () => undefined,
  )
  const given: unknown[] = []
  find('h1').focus = (options) => given.push(options)
  focusAgain(before())
  return given
}

test('the heading gets the focus of a button that was removed, and is shown', async () => {
  assert.deepEqual(await focusesOfHeading(() => document.createElement('button')), [{ preventScroll: false }])
})

test('the page is not scrolled in a browser that focuses no button that is clicked', async () => {
  assert.deepEqual(await focusesOfHeading(() => document.body), [{ preventScroll: true }])
})
