import { fingerprintOf } from './note.js'

export const find = (selector) => document.querySelector(selector)

export function say(words) {
  find('#status').textContent = words
}

const reasons = {
  app_public_key_not_found: 'Nobody with this username uses this app.',
  decryption_failed: 'What came with this sign-in is no key for this page.',
  rate_limited: 'Too many look-ups. Wait a minute.',
}

export function explain(error) {
  return reasons[error.code] ?? error.description ?? error.message
}

/** Does what the person asked for, one thing at a time, and tells them why where it does not work. */
export async function attempt(event, act) {
  event.preventDefault()
  const page = find('main')
  if (page.hasAttribute('aria-busy')) return
  page.setAttribute('aria-busy', 'true')
  say('')
  try {
    await act()
  } catch (error) {
    say(explain(error))
  } finally {
    page.removeAttribute('aria-busy')
  }
}

/** Whether the person wants to go on with another key of somebody's than the one that they had. */
export async function askAboutKey(handle, publicKey) {
  const dialog = find('#changed')
  dialog.querySelector('.handle').textContent = handle
  dialog.querySelector('code').textContent = await fingerprintOf(publicKey)
  dialog.returnValue = ''
  dialog.showModal()
  find('main').removeAttribute('aria-busy')
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }))
  return dialog.returnValue === 'share'
}
