import type { App } from '@countersign/protocol/clients/apps'
import { Copies } from '../../components/display/Copies.tsx'
import { readSite } from '../../lib/view.ts'
import { useWords } from './words.ts'

/** What every OpenID Connect library asks for. */
export function Credentials({ app }: { app: App }) {
  const words = useWords().developers
  const facts = [
    { label: words.clientId, value: app.clientId, action: 'copy-client-id' },
    { label: words.issuer, value: readSite().authUrl, action: 'copy-issuer' },
  ]
  return (
    <Copies of={facts}>
      <div class="fact">
        <dt>{words.secret}</dt>
        <dd>{app.public ? words.noSecret : words.secretKept}</dd>
      </div>
    </Copies>
  )
}
