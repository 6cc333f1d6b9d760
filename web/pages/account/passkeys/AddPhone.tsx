import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { ActionButton } from '../../../components/form/Actions.tsx'
import type { ActionState } from '../../../components/form/use-actions.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { QrCode } from '../../../components/ui/Code.tsx'
import { Disclosure } from '../../../components/ui/Disclosure.tsx'
import { routePath } from '../sections.ts'
import { useAccountWords } from '../words.ts'

type Props = { passkeyCount: number; doing: ActionState; onAdd: () => Promise<void> }

/** Says how a phone gets a passkey of its own: on its own page, or from the dialog of this browser. */
export function AddPhone({ passkeyCount, doing, onAdd }: Props) {
  const words = useAccountWords().security
  const url = readSiteSettings().authUrl + routePath('security')
  const add = { name: 'add-phone', label: words.phoneAdd, look: 'secondary', do: onAdd } as const
  return (
    <Card title={words.phone}>
      <div class="qr-row">
        <QrCode text={url} label={words.phoneQr(url)} />
        <p class="soft">{words.phoneWhat}</p>
      </div>
      {passkeyCount < pageLimits.passkeysPerUserMax && (
        <Disclosure summary={words.phoneNearby} icon="smartphone">
          <p>{words.phoneWhy}</p>
          <div class="row">
            <ActionButton action={add} doing={doing} />
          </div>
        </Disclosure>
      )}
    </Card>
  )
}
