import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { renderInPage } from '../../../../testing/render.ts'

const { PendingDeviceApprovals } = await import('../WaitingDevices.tsx')

const userAgent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36'

/** Returns what a screen reader says of a button. */
const nameOf = (button: Element) =>
  button.getAttribute('aria-label') ??
  [...button.childNodes]
    .filter((node) => !(node instanceof HTMLElement && node.getAttribute('aria-hidden') === 'true'))
    .map(({ textContent }) => textContent)
    .join('')

test('the buttons of each waiting device name it and the time of its request', async () => {
  const devices = ['2030-01-01T09:05:00.000Z', '2030-01-01T10:07:00.000Z'].map((createdAt, index) => ({
    approvalId: `approval-${index}`,
    commitment: '',
    userAgent,
    createdAt,
    expiresAt: '2030-01-01T11:00:00.000Z',
  }))
  await renderInPage(() => h(PendingDeviceApprovals, { devices, onApprove: () => {}, onRefused: () => {} }))
  const names = [...document.querySelectorAll('button')].map(nameOf)
  assert.equal(new Set(names).size, 4, names.join(', '))
  assert.match(names[0] ?? '', /^Deny Chrome on Linux · Requested \d/)
  assert.match(names[1] ?? '', /^Approve Chrome on Linux · Requested \d/)
})
