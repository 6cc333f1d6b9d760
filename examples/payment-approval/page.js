import { euros } from './payments.js'

/** The one page of the app, as HTML. */
export function drawPage({ app, person, payments }) {
  const body = person ? drawPayments(person, payments) : drawWelcome(app)
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>Payments</title>
  <link rel="stylesheet" href="/page.css">
  <main>${body}</main>
</html>`
}

function drawWelcome({ baseUrl, authUrl, clientId }) {
  return `
    <script type="module" src="/countersign-button.js"></script>
    <script type="module" src="/sign-in.js"></script>
    <h1>Payments</h1>
    <p>Nothing is paid here before you have signed it.</p>
    <countersign-button
      base-url="${escaped(baseUrl)}"
      auth-url="${escaped(authUrl)}"
      client-id="${escaped(clientId)}"
      redirect-uri="/callback"
    ></countersign-button>
    <p role="status"></p>`
}

function drawPayments({ name }, payments) {
  return `
    <script type="module" src="/approve.js"></script>
    <h1>Payments</h1>
    <p>Hello ${escaped(name)}. These wait for your signature.</p>
    <ul>${payments.map(drawPayment).join('')}</ul>
    <p role="status"></p>`
}

function drawPayment({ number, payee, cents, state, reason, evidence }) {
  const what = `${euros(cents)} to ${escaped(payee)}`
  return `
      <li data-payment="${escaped(number)}" data-state="${state}">
        <div>
          <span class="amount">${euros(cents)}</span> to ${escaped(payee)}
          <small>Payment ${escaped(number)}</small>
          ${reason ? `<small class="reason">${escaped(reason)}</small>` : ''}
          ${evidence ? `<small>Signature <code>${escaped(evidence.signature)}</code></small>` : ''}
        </div>
        ${state === 'paid' ? '<strong>Paid</strong>' : `<button aria-label="Approve ${what}">Approve</button>`}
      </li>`
}

function escaped(text) {
  return text.replaceAll(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`)
}
