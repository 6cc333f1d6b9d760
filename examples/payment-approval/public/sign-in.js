const button = document.querySelector('countersign-button')

button.addEventListener('signed-in', ({ detail }) => void begin(detail.grant))
button.addEventListener('sign-in-failed', ({ detail }) => say(detail.error?.description ?? 'Nobody has signed in.'))

/** The server finds out who it is, and knows this browser from then on. */
async function begin(grant) {
  const response = await fetch('/session', { method: 'POST', body: JSON.stringify(grant) })
  if (response.ok) return location.replace('/')
  say(await response.text())
}

function say(words) {
  document.querySelector('[role=status]').textContent = words
}
