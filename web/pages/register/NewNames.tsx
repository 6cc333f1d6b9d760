import { IdentityFields } from '../../components/form/Field.tsx'
import { usePageMessages } from '../../components/frame/Root.tsx'
import { Avatar, Person } from '../../components/ui/Avatar.tsx'
import { atHandle } from '../../lib/text/handle.ts'
import type { IdentityDraft } from '../../lib/text/identity-draft.ts'
import { admissionMessages as ar } from '../../locales/ar/pages/sign-in/admission.ts'
import { admissionMessages as de } from '../../locales/de/pages/sign-in/admission.ts'
import { admissionMessages as en } from '../../locales/en/pages/sign-in/admission.ts'

type Props = {
  draft: IdentityDraft
  checked: boolean
  onChange: (draft: IdentityDraft) => void
  takesFocus?: boolean
}

/** Asks for the names of a new identity, or shows those that its operator has chosen. */
export function NewNames({ draft, checked, onChange, takesFocus = false }: Props) {
  const words = usePageMessages({ en, de, ar })
  const { handle, displayName, isFixed } = draft
  if (!isFixed)
    return <IdentityFields draft={draft} checked={checked} onChange={onChange} isNew takesFocus={takesFocus} />
  return (
    <div class="stack tight" data-name="fixed-names">
      <Person avatar={<Avatar name={displayName} toneOf={handle} />} name={displayName} detail={atHandle(handle)} />
      <p class="small soft">{words.chosen}</p>
    </div>
  )
}

/** Says what comes next to a user who has no names to choose. */
export function ChosenLead() {
  return <p class="lead">{usePageMessages({ en, de, ar }).chosenLead}</p>
}
