const remedies = {
  connect: `
    <p>May I look into your calendar? You choose when.</p>
    <p>
      <a class="button" href="/connect">While I’m here</a>
      <a class="button quiet" href="/connect?mode=background">Also while I’m away</a>
    </p>`,
  'sign-in': `
    <p>Sign in again, and I look into your calendar.</p>
    <a class="button" href="/sign-in-again">Sign in with Countersign</a>`,
}

/** The one page of the app, as HTML. */
export function drawPage({ person, today, round }) {
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>Assistant</title>
  <link rel="stylesheet" href="/page.css">
  <main>
    <h1>Assistant</h1>
    ${person ? drawToday(person, today) : drawWelcome(round)}
  </main>
</html>`
}

function drawWelcome({ prepared, refused }) {
  const said = /^\d+$/.test(prepared) && /^\d+$/.test(refused) ? `Prepared: ${prepared}. Refused: ${refused}.` : ''
  return `
    <p>Tells you in the morning what is on.</p>
    <a class="button" href="/sign-in">Sign in with Countersign</a>
    <form class="aside" method="post" action="/round">
      <p>Every morning it prepares the day of those who let it do so while they are away.</p>
      <button class="quiet">Let it be morning</button>
      <p role="status">${said}</p>
    </form>`
}

function drawToday({ name }, { events, isPrepared, remedy }) {
  return `
    <p>Hello ${escaped(name)}.</p>
    ${remedy ? remedies[remedy] : drawEvents(events, isPrepared)}
    <form class="aside" method="post" action="/sign-out"><button class="quiet">Sign out</button></form>`
}

function drawEvents(events, isPrepared) {
  return `
    <h2>Today</h2>
    <ul>${events.map(({ at, what }) => `<li><time>${escaped(at)}</time> ${escaped(what)}</li>`).join('')}</ul>
    ${isPrepared ? '<p class="note">I prepared your day while you were away.</p>' : ''}`
}

function escaped(text) {
  return text.replaceAll(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`)
}
