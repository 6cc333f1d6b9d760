import type { App } from '@countersign/protocol/clients/apps'
import { CopyButton } from '../../components/display/CopyButton.tsx'
import { readSite } from '../../lib/view.ts'
import { firstSignIn } from './first-sign-in.ts'
import { useWords } from './words.ts'

export function FirstSignIn({ app }: { app: App }) {
  const words = useWords().developers
  const program = firstSignIn(app, readSite().authUrl)
  const command = app.public ? 'node first-sign-in.mjs' : 'CLIENT_SECRET=… node first-sign-in.mjs'
  return (
    <details class="first-sign-in">
      <summary data-action="first-sign-in">{words.firstSignIn}</summary>
      <p>{words.firstSignInWhat}</p>
      <pre>
        npm install openid-client@6.8.9{'\n'}
        {command}
      </pre>
      <pre>{program}</pre>
      <CopyButton text={program} action="copy-first-sign-in" what="first-sign-in.mjs" />
    </details>
  )
}
