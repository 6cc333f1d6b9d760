import { renderPage } from '../../components/frame/Root.tsx'
import { reportUnexpected } from '../../lib/api/error-message.ts'
import { wasSignedIn } from '../../lib/remembered.ts'
import { fetchOwnSession } from '../../lib/session/session.ts'
import './landing.css'
import { Landing } from './Landing.tsx'

const typefacesMilliseconds = 500

// Users who are signed in go to their account before a page is shown. For other visitors no request is needed.
const session = wasSignedIn() ? await fetchOwnSession().catch(reportUnexpected) : undefined
if (session) location.replace('/account')
else {
  await typefaces()
  await renderPage(Landing)
}

/** Waits a moment for the typefaces, which are on their way already: so nothing on the page moves when they arrive. */
async function typefaces(): Promise<void> {
  const loaded = Promise.all(["1rem 'Geist'", "500 1rem 'Newsreader Display'"].map((font) => document.fonts.load(font)))
  const late = new Promise((resolve) => setTimeout(resolve, typefacesMilliseconds))
  await Promise.race([loaded.catch(reportError), late])
}
