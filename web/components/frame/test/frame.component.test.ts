import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { renderInPage } from '../../../testing/render.ts'

const { PageLayout } = await import('../Frame.tsx')
const { Shell } = await import('../Shell.tsx')
const { toast } = await import('../toast.ts')

const sections = [
  { href: '/account', icon: 'house', label: 'Home', current: true },
  { href: '/account/signing', icon: 'signature', label: 'Signing', current: false, count: 2 },
] as const

test('a console names the current area and section, and what waits', async () => {
  const { find } = await renderInPage(() =>
    h(Shell, {
      area: 'account',
      title: 'Home',
      sections: [...sections],
      user: { displayName: 'Ada Lovelace', handle: 'ada' },
      waiting: 2,
      children: h('p', {}, 'content'),
    }),
  )
  assert.equal(document.title, 'Home · Countersign')
  assert.equal(find('.areas [aria-current]').textContent, 'Account')
  assert.equal(find('.rail-list [aria-current="page"]').textContent, 'Home')
  assert.equal(find('.rail-list a[href="/account/signing"]').textContent, 'Signing2 waiting')
  assert.match(find('a[href$="/account/signing"].square').getAttribute('aria-label') ?? '', /^2 /)
  assert.match(find('[data-action="account-menu"]').getAttribute('aria-label') ?? '', /Ada Lovelace/)
  assert.equal(find('.skip').getAttribute('href'), '#main')
  assert.equal(find('main').id, 'main')
})

test('skipping to the content moves the focus, and leaves the secret in the address', async () => {
  const { find, after } = await renderInPage(() => h(PageLayout, { title: 'Home', children: 'content' }))
  location.hash = 'cs_inv_secret'
  await after(() => find('.skip').click())
  assert.equal(location.hash, '#cs_inv_secret')
  assert.equal(document.activeElement, find('main'))
})

test('the title of the window begins with the section of what the console is about', async () => {
  const { find } = await renderInPage(() =>
    h(Shell, { area: 'developers', title: 'Paper Shop', part: 'Usage', sections: [...sections], children: h('p', {}) }),
  )
  assert.equal(document.title, 'Usage · Paper Shop · Countersign')
  assert.equal(find('.rail').getAttribute('aria-label'), 'Paper Shop')
})

test('signing out is in the account menu', async () => {
  let isOut = false
  const { find, after } = await renderInPage(() =>
    h(Shell, {
      area: 'account',
      title: 'Home',
      sections: [],
      user: { displayName: 'Ada Lovelace', handle: 'ada' },
      onSignOut: () => (isOut = true),
      children: null,
    }),
  )
  for (const panel of document.querySelectorAll('[popover]')) Reflect.set(panel, 'hidePopover', () => {})
  await after(() => find('[data-action="sign-out"]').click())
  assert.ok(isOut)
})

test('the theme that a user chooses is shown, and remembered in this browser', async () => {
  const { find, after } = await renderInPage(() =>
    h(Shell, {
      area: 'account',
      title: 'Home',
      sections: [],
      user: { displayName: 'Ada', handle: 'ada' },
      children: null,
    }),
  )
  await after(() => find('[data-action="theme-dark"]').click())
  assert.equal(document.documentElement.dataset['theme'], 'dark')
  assert.equal(localStorage.getItem('theme'), 'dark')
  assert.equal(find('[data-action="theme-dark"]').getAttribute('aria-pressed'), 'true')
  await after(() => find('[data-action="theme-system"]').click())
  assert.equal(document.documentElement.dataset['theme'], undefined)
})

test('a toast is announced, and its undo runs once and ends it', async () => {
  let undone = 0
  const { find, after } = await renderInPage(() => h(PageLayout, { title: 'Page', children: null }))
  await after(() => toast('Session ended', () => (undone += 1)))
  assert.equal(find('.toasts').getAttribute('role'), 'status')
  assert.match(find('.toast').textContent, /Session ended/)
  await after(() => find('[data-action="undo"]').click())
  assert.equal(undone, 1)
  assert.equal(document.querySelector('.toast'), null)
})

test('a sheet says on which host the user is', async () => {
  const { find } = await renderInPage(() => h(PageLayout, { title: 'Sign in', where: true, children: null }))
  assert.equal(find('.where').textContent, 'You are at id.example')
})
