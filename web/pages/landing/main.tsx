import { renderPage } from '../../components/frame/Root.tsx'
import { wasSignedIn } from '../../lib/remembered.ts'
import { fetchOwnSession } from '../../lib/session/session.ts'
import './landing.css'
import { Landing } from './Landing.tsx'

// Users who are signed in see no page before their account. Other visitors are not asked: the API has no session of them.
const session = wasSignedIn() ? await fetchOwnSession().catch(reportError) : undefined
if (session) location.replace('/account')
else await renderPage(Landing)
