import type { Identity } from '@countersign/protocol/accounts/identities'
import { useEffect, useState } from 'preact/hooks'
import { useMessages } from '../words.ts'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { type Fact, Facts } from '../../../components/ui/Facts.tsx'
import { Icon, type IconName } from '../../../components/ui/Icon.tsx'
import type { AccountData } from '../account-data.ts'
import { fingerprintOf } from '../../../lib/text/fingerprint.ts'
import { useAccountWords } from '../words.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { joinNames } from '../../../lib/text/lists.ts'

export type IdentityDialog = { about: 'change' | 'email' | 'delete'; identity: Identity } | { about: 'new' }

type Props = {
  identity: Identity
  data: Pick<AccountData, 'authorizations' | 'signingKeys'>
  /** It is the first of several: passkeys show its name. */
  isFirst: boolean
  /** The last one can only be deleted with the account. */
  isLast: boolean
  onChoose: (dialog: IdentityDialog) => void
}

/** An identity with what apps may see of it, where it is used, and what can be done with it. */
export function IdentityCard({ identity, data, isFirst, isLast, onChoose }: Props) {
  const words = useAccountWords().identities
  const { identityId, displayName, handle, avatarUrl } = identity
  const isOfIt = (each: { identityId: string }) => each.identityId === identityId
  const facts: Fact[] = [
    { label: useMessages().identities.email, value: <EmailOf identity={identity} /> },
    { label: words.usedIn, value: <UsedIn apps={data.authorizations.filter(isOfIt).map(({ appName }) => appName)} /> },
    { label: words.key, value: <Fingerprint publicKey={data.signingKeys.find(isOfIt)?.publicKey} /> },
  ]
  const choose = (about: 'change' | 'email' | 'delete') => () => onChoose({ about, identity })
  return (
    <article class="card identity" data-identity-id={identityId}>
      <div class="identity-head">
        <Avatar name={displayName} picture={avatarUrl} toneOf={handle} size="xl" />
        <div class="stack tight">
          <h2 class="identity-name">{displayName}</h2>
          <p class="soft small">
            {atHandle(handle)} {isFirst && <Chip>{words.first}</Chip>}
          </p>
        </div>
      </div>
      <Facts of={facts} />
      <div class="row">
        <CardButton about="change" icon="pencil" identity={identity} onChoose={choose('change')} />
        <CardButton about="email" icon="mail" identity={identity} onChoose={choose('email')} />
        {!isLast && (
          <span class="push">
            <CardButton about="delete" icon="trash" identity={identity} onChoose={choose('delete')} />
          </span>
        )}
      </div>
    </article>
  )
}

type CardButtonProps = {
  about: 'change' | 'email' | 'delete'
  icon: IconName
  identity: Identity
  onChoose: () => void
}

function CardButton({ about, icon, identity: { identityId, handle, email }, onChoose }: CardButtonProps) {
  const words = useMessages().identities
  const isDeletion = about === 'delete'
  const does = about !== 'email' ? about : email === null ? 'addEmail' : 'changeEmail'
  return (
    <button
      type="button"
      class={isDeletion ? 'button square ghost' : 'button'}
      aria-label={words.choose[does](handle)}
      data-action={`${about}-of-identity`}
      data-identity-id={identityId}
      aria-haspopup="dialog"
      onClick={onChoose}
    >
      <Icon name={icon} size={isDeletion ? undefined : 'sm'} />
      {!isDeletion && words[does]}
    </button>
  )
}

function EmailOf({ identity: { email, emailVerified } }: { identity: Identity }) {
  const words = useAccountWords().identities
  if (email === null) return <span class="soft">{words.noEmail}</span>
  return (
    <>
      {email}{' '}
      {emailVerified ? (
        <Chip tone="ok" icon="check">
          {words.verified}
        </Chip>
      ) : (
        <Chip tone="wait">{words.notVerified}</Chip>
      )}
    </>
  )
}

const namedApps = 2

function UsedIn({ apps }: { apps: string[] }) {
  const words = useAccountWords().identities
  if (apps.length === 0) return <span class="soft">{words.unused}</span>
  return <>{apps.length <= namedApps ? joinNames(apps) : words.usedInCount(apps.length)}</>
}

/** The first two groups of a fingerprint identify a key well enough here. */
const shownCharacters = 9

function Fingerprint({ publicKey }: { publicKey: string | undefined }) {
  const words = useAccountWords().identities
  const [fingerprint, setFingerprint] = useState('')
  useEffect(() => {
    if (publicKey !== undefined) fingerprintOf(publicKey).then(setFingerprint, reportError)
  }, [publicKey])
  if (publicKey === undefined) return <span class="soft">{words.noKey}</span>
  return <code>{fingerprint.slice(0, shownCharacters).toUpperCase()}</code>
}
