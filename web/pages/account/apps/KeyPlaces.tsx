import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import type { AppKeyPlaces } from '@countersign/protocol/formats/encryption/app-key-envelope'
import type { Authorization } from '@countersign/protocol/oauth/authorizations'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { reauthenticate, withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useMessages } from '../words.ts'
import { RecoveryCodeForm } from '../../../components/unlock/EnterCode.tsx'

const loadStore = () => import('../../../lib/keys/app-key-store.ts')

type Props = { authorization: Authorization; userId: string; onClose: () => void }

/** The unlocked keys of the dialog, and the places of each app key. */
type Opened = { masterKey: MasterKey; places: AppKeyPlaces[] }

/**
 * Shows to which addresses, and to which server alone, an app key may be delivered, and removes them. The places are
 * encrypted with the key, so the user's keys are unlocked first.
 */
export function KeyPlaces({ authorization, userId, onClose }: Props) {
  const words = useMessages()
  const doing = useActions()
  const [keyWraps, setKeyWraps] = useState<KeyWrap[]>()
  const [opened, setOpened] = useState<Opened>()
  const show = async (masterKey: MasterKey) =>
    setOpened({ masterKey, places: await readPlaces(masterKey, authorization) })
  const close = () => {
    opened?.masterKey.forget()
    onClose()
  }
  const unlock: Action = {
    name: 'unlock',
    label: words.apps.showPlaces,
    do: async () => {
      const vault = await import('../../../lib/keys/key-vault.ts')
      const used = await reauthenticate(await vault.prfSalt())
      const { keyWraps: all } = await call('GET /api/account/key-wraps', {})
      const masterKey = await vault.unlockWithPasskey(all, used, userId)
      await (masterKey ? show(masterKey) : setKeyWraps(all))
    },
  }
  const cancel: Action = { name: 'cancel', label: words.apps.closePlaces, look: 'quiet', do: close }
  const change = (without: Removal): Action => ({
    name: 'recipient' in without ? 'release-key' : 'remove-place',
    label: words.apps.removePlace,
    look: 'quiet',
    do: async () => {
      if (!opened) return
      await withRecentAuthentication(() => remove(opened.masterKey, authorization, without))
      await show(opened.masterKey)
    },
  })
  return (
    <Dialog title={words.apps.placesTitle(authorization.appName)} onClose={close}>
      {keyWraps && !opened ? (
        <RecoveryCodeForm
          keyWraps={keyWraps}
          userId={userId}
          doing={doing}
          why={words.passkeys.codeWhy}
          label={words.apps.showPlaces}
          onOpened={show}
          onCancel={close}
        />
      ) : (
        <>
          {opened ? <Places of={opened.places} change={change} doing={doing} /> : <p>{words.apps.placesWhat}</p>}
          <Actions of={opened ? [cancel] : [unlock, cancel]} doing={doing} />
        </>
      )}
    </Dialog>
  )
}

type PlacesProps = { of: AppKeyPlaces[]; change: (without: Removal) => Action; doing: ReturnType<typeof useActions> }

function Places({ of, change, doing }: PlacesProps) {
  const words = useMessages().apps
  const redirects = [...new Set(of.flatMap((places) => places.redirects))]
  const recipients = [...new Set(of.flatMap(({ recipient }) => recipient ?? []))]
  const button = (action: Action, place: string) => (
    <button type="button" class="button quiet" data-action={action.name} onClick={() => void doing.perform(action)}>
      {action.label}
      <span class="vh">{`: ${place}`}</span>
    </button>
  )
  return (
    <>
      <p>{words.placesRedirects}</p>
      <ul class="places">
        {redirects.map((redirect) => (
          <li key={redirect}>
            <code>{redirect}</code>
            {of.some((places) => placesWithout(places, { redirect })) && button(change({ redirect }), redirect)}
          </li>
        ))}
      </ul>
      {recipients.length > 0 && <p>{words.placesRecipient}</p>}
      <ul class="places">
        {recipients.map((recipient) => (
          <li key={recipient}>
            <code>{recipient}</code>
            {button(change({ recipient }), recipient)}
          </li>
        ))}
      </ul>
    </>
  )
}

type Removal = { redirect: string } | { recipient: string }

async function readPlaces(masterKey: MasterKey, owner: Authorization): Promise<AppKeyPlaces[]> {
  const { openKey, readStoredKeys } = await loadStore()
  const stored = await readStoredKeys(owner)
  return Promise.all(stored.map(async (each) => (await openKey(masterKey, owner, each)).places))
}

/** Removes a place from all keys that have it. The last address of a key stays, because no key is without one. */
async function remove(masterKey: MasterKey, owner: Authorization, without: Removal): Promise<void> {
  const { changePlaces, readStoredKeys } = await loadStore()
  for (const stored of await readStoredKeys(owner))
    await changePlaces(masterKey, owner, stored, (places) => placesWithout(places, without))
}

function placesWithout(places: AppKeyPlaces, without: Removal): AppKeyPlaces | undefined {
  if ('recipient' in without) return places.recipient === without.recipient ? { ...places, recipient: null } : undefined
  const redirects = places.redirects.filter((each) => each !== without.redirect)
  return redirects.length === 0 || redirects.length === places.redirects.length ? undefined : { ...places, redirects }
}
