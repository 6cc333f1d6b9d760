import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { useState } from 'preact/hooks'
import { event, renderInPage, type } from '../../../testing/render.ts'

const { Avatar } = await import('../Avatar.tsx')
const { Card, Empty, Skeleton } = await import('../Card.tsx')
const { Chip, Note } = await import('../Chip.tsx')
const { CodeBlock, QrCode } = await import('../Code.tsx')
const { Facts, Permits } = await import('../Facts.tsx')
const { Menu } = await import('../Menu.tsx')
const { Filter, Pager, Search, Table } = await import('../Table.tsx')
const { Segmented, Steps, Tabs } = await import('../Tabs.tsx')
const { TimelineDay, TimelineEvent } = await import('../Timeline.tsx')

test('an avatar shows a picture of this service, and never loads one of another host', async () => {
  const picture = 'https://id.example/pictures/0c9f6c2e-6a0b-4f35-9d7c-3b0e7f1a2d44'
  const own = await renderInPage(() => h(Avatar, { name: 'Ada', picture }))
  assert.equal(own.find('.avatar img').getAttribute('src'), `${picture}/256`)
  const foreign = await renderInPage(() => h(Avatar, { name: 'ada', picture: 'https://spy.example/pixel.png' }))
  assert.equal(foreign.find('.avatar').textContent, 'A')
  assert.equal(document.querySelector('.avatar img'), null)
})

test('an initial is one letter with its accents, and its tone stays when the name changes', async () => {
  const toneOf = (look: string | null) => /tone-\d/.exec(look ?? '')?.[0]
  const before = await renderInPage(() => h(Avatar, { name: 'é́mile', toneOf: 'app_1', kind: 'app' }))
  assert.equal(before.find('.avatar').textContent, 'É́')
  const tone = toneOf(before.find('.avatar').getAttribute('class'))
  const after = await renderInPage(() => h(Avatar, { name: 'Zoë', toneOf: 'app_1', kind: 'app' }))
  assert.equal(toneOf(after.find('.avatar').getAttribute('class')), tone)
})

test('a menu names its button, and a choice runs and closes it', async () => {
  const chosen: string[] = []
  const { find, after } = await renderInPage(() =>
    h(Menu, {
      label: 'More for Ada',
      action: 'more',
      items: [
        { label: 'Profile', href: '/ada' },
        'divider',
        { label: 'Remove', danger: true, action: 'remove', onChoose: () => chosen.push('remove') },
      ],
    }),
  )
  const panel = find('[popover]')
  let closings = 0
  Reflect.set(panel, 'hidePopover', () => (closings += 1))
  assert.equal(find('[data-action="more"]').getAttribute('popovertarget'), panel.id)
  assert.equal(find('[data-action="more"]').getAttribute('aria-label'), 'More for Ada')
  assert.equal(find('[popover] a').getAttribute('href'), '/ada')
  await after(() => find('[data-action="remove"]').click())
  assert.deepEqual([chosen, closings], [['remove'], 1])
})

test('arrow keys move between the choices of a menu, and change the value of a select in it', async () => {
  const { find } = await renderInPage(() =>
    h(Menu, {
      label: 'Account',
      items: [{ label: 'Profile', href: '/ada' }],
      foot: h('select', {}, h('option', {}, 'English'), h('option', {}, 'Deutsch')),
    }),
  )
  const pressDown = (target: HTMLElement) => {
    target.focus()
    const pressed = event('keydown')
    Reflect.set(pressed, 'key', 'ArrowDown')
    target.dispatchEvent(pressed)
    return { isTaken: pressed.defaultPrevented, focused: document.activeElement?.localName }
  }
  assert.deepEqual(pressDown(find('[popover] a')), { isTaken: true, focused: 'select' })
  assert.deepEqual(pressDown(find('select')), { isTaken: false, focused: 'select' })
})

test('a table keeps its roles and names each value, for where its rows are cards', async () => {
  const columns = [
    { key: 'name', label: 'Name', cell: (row: { name: string }) => row.name },
    { key: 'role', label: 'Role', cell: () => 'Owner' },
    { key: 'more', label: 'Actions', isActions: true, cell: () => null },
  ]
  const { find } = await renderInPage(() =>
    h(Table<{ name: string }>, { caption: 'Members', columns, rows: [{ name: 'Ada' }], keyOf: ({ name }) => name }),
  )
  assert.equal(find('caption').textContent, 'Members')
  assert.equal(find('tbody tr').getAttribute('role'), 'row')
  const cells = [...document.querySelectorAll('td')].map((cell) => [cell.textContent, cell.getAttribute('data-label')])
  assert.deepEqual(cells, [
    ['Ada', null],
    ['Owner', 'Role'],
    ['', null],
  ])
})

test('search, filter and pager report what the user does', async () => {
  const done: string[] = []
  const { find, after } = await renderInPage(() => {
    const [text, setText] = useState('')
    const search = (typed: string) => {
      setText(typed)
      done.push(`search ${typed}`)
    }
    return h('div', {}, [
      h(Search, { label: 'Search members', value: text, onInput: search }),
      h(Filter, {
        label: 'Role',
        of: [{ value: 'all', label: 'All roles' }],
        chosen: 'all',
        onChoose: (role: string) => done.push(role),
      }),
      h(Pager, { children: '1–20 of 48', onNext: () => done.push('next') }),
    ])
  })
  await after(() => type(find('input[type="search"]'), 'ada'))
  const [previous, next] = [...document.querySelectorAll<HTMLElement>('.pager button')]
  assert.equal(previous?.getAttribute('aria-disabled'), 'true')
  await after(() => previous?.click())
  await after(() => next?.click())
  assert.deepEqual(done, ['search ada', 'next'])
})

test('tabs, steps and segments say which one is current, not by color alone', async () => {
  const follow = () => {}
  const { find } = await renderInPage(() =>
    h('div', {}, [
      h(Tabs, { label: 'Members', tabs: [{ label: 'All', href: '/all', current: true, count: 2, onFollow: follow }] }),
      h(Steps, { label: 'Steps', steps: ['Username', 'Passkey', 'Code'], current: 1 }),
      h(Segmented<'a' | 'b'>, {
        label: 'Kind',
        of: [
          { value: 'a', label: 'A' },
          { value: 'b', label: 'B' },
        ],
        chosen: 'b',
        onChoose: follow,
      }),
    ]),
  )
  assert.equal(find('.tabs a').getAttribute('aria-current'), 'page')
  assert.equal(find('[aria-current="step"] .word').textContent, 'Passkey')
  assert.equal(find('.segmented [aria-pressed="true"]').textContent, 'B')
})

test('cards, notes, facts and permissions are announced with what they are about', async () => {
  const { find, text } = await renderInPage(() =>
    h('div', {}, [
      h(Card, {
        title: 'Passkeys',
        about: 'How you sign in',
        foot: 'Two passkeys',
        children: h(Skeleton, { rows: 1 }),
      }),
      h(Empty, { icon: 'inbox', title: 'Nothing to sign' }),
      h(Note, { tone: 'ok', role: 'status', children: 'You are back in.' }),
      h(Chip, { tone: 'wait', icon: 'clock', children: 'Waiting' }),
      h(Facts, { of: [{ label: 'Key', value: '8F3A', note: 'since 4 March' }] }),
      h(Permits, {
        of: [
          { key: 'a', text: 'Reads', isAllowed: true },
          { key: 'b', text: 'Deletes', isAllowed: false },
        ],
      }),
      h(TimelineDay, {
        title: 'Today',
        children: h(TimelineEvent, { instant: '2026-11-24T10:00:00Z', time: '10:00', children: 'Ada signed in' }),
      }),
    ]),
  )
  const title = find(`[id="${find('.card').getAttribute('aria-labelledby')}"]`)
  assert.equal(title.textContent, 'Passkeys')
  assert.equal(find('.note').getAttribute('role'), 'status')
  assert.equal(find('.permits .no').textContent, 'Deletes')
  assert.equal(find('.timeline time').getAttribute('datetime'), '2026-11-24T10:00:00Z')
  assert.match(text(), /Nothing to sign.*Waiting.*since 4 March/s)
})

test('code can be copied, and a QR code says what it holds', async () => {
  const { find } = await renderInPage(() =>
    h('div', {}, [
      h(CodeBlock, { code: 'npm ci', label: 'Shell', action: 'copy-shell' }),
      h(QrCode, { text: 'https://id.example/account', label: 'Address of your account' }),
    ]),
  )
  assert.match(find('[data-action="copy-shell"]').getAttribute('aria-label') ?? '', /Shell/)
  assert.equal(find('.code pre').getAttribute('tabindex'), '0')
  assert.equal(find('.qr svg').getAttribute('aria-label'), 'Address of your account')
})
