import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { pageMember, pageOrganization, renderForOrganization } from '../../../../testing/organization-pages.ts'
import { event } from '../../../../testing/render.ts'

const { Documents } = await import('../Documents.tsx')

const organization = pageOrganization(pageMember('ada', 'owner'))

const documentOf = (requestId: string) => ({
  ...{ requestId, app: { clientId: 'shop', name: 'Shop', iconUrl: null }, title: requestId, status: 'pending' },
  ...{ answers: [], answered: null, isSigned: false, approvals: 0, approvalsNeeded: 0 },
  ...{ createdAt: '2020-01-01T00:00:00.000Z', expiresAt: '2020-01-02T00:00:00.000Z' },
})
const page = (requestId: string, nextCursor: string | null) => ({
  ...{ documents: [documentOf(requestId)], waiting: 2, nextCursor },
  ...{ signers: 1, approvers: 0, maySign: true, mayApprove: false },
})

async function openDocuments(readMore: () => unknown) {
  const rendered = await renderForOrganization(
    () => h(Documents, { organization }),
    ({ query }) => {
      if (query.get('state') !== 'waiting') return new Promise(() => {})
      return query.has('cursor') ? readMore() : page('first', 'next')
    },
  )
  const show = (label: string) =>
    rendered.after(() =>
      [...document.querySelectorAll<HTMLElement>('.segmented button')]
        .find(({ textContent }) => textContent === label)
        ?.click(),
    )
  const shown = () =>
    [...document.querySelectorAll('[data-request-id]')].map((each) => each.getAttribute('data-request-id'))
  return { ...rendered, show, shown }
}

test('documents that a member loads stay if another filter is chosen for a moment', async () => {
  const { click, show, shown } = await openDocuments(() => page('second', null))
  await click('[data-action="more"]')
  await show('Signed')
  await show('Waiting')
  assert.deepEqual(shown(), ['first', 'second'])
})

test('documents stay that arrive after another filter was chosen for a moment', async () => {
  const late = Promise.withResolvers<unknown>()
  const { click, after, show, shown } = await openDocuments(() => late.promise)
  await click('[data-action="more"]')
  await show('Signed')
  await show('Waiting')
  await after(() => late.resolve(page('second', null)))
  await after(() => window.dispatchEvent(event('focus')))
  assert.deepEqual(shown(), ['first', 'second'])
})
