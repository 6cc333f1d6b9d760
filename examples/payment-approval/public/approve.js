import { openSigningPopup } from './countersign.js'

const payments = [...document.querySelectorAll('[data-payment]')]

for (const payment of payments) {
  payment.querySelector('button')?.addEventListener('click', () => void approve(pathOf(payment)))
  if (payment.dataset.state === 'asked') void showSettled(pathOf(payment))
}

/** Lets the person sign. What came of it the server says, which has verified it. */
async function approve(path) {
  for (const button of document.querySelectorAll('button')) button.disabled = true
  try {
    const answer = await openSigningPopup({ signingUrl: beginApproval(path) })
    if (answer.type === 'blocked') offerLink(answer.signingUrl)
    if (answer.type === 'closed') return location.reload()
    await showSettled(path)
  } catch (error) {
    say(error.message)
  }
}

async function beginApproval(path) {
  const response = await fetch(path, { method: 'POST' })
  if (!response.ok) throw new Error(await response.text())
  return response.text()
}

async function showSettled(path) {
  const response = await fetch(`${path}/settled`)
  if (response.ok) location.reload()
}

/** Where the browser opened no window. */
function offerLink(signingUrl) {
  const link = Object.assign(document.createElement('a'), { href: signingUrl, target: '_blank' })
  link.textContent = 'Open the page to sign on'
  say(link)
  link.focus()
}

function say(words) {
  document.querySelector('[role=status]').replaceChildren(words)
}

function pathOf(payment) {
  return `/payments/${encodeURIComponent(payment.dataset.payment)}`
}
