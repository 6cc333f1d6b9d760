import type { SectionProps } from '../account-data.ts'
import { lazy } from '../lazy.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { useAccountWords } from '../words.ts'

const SaveRecoveryCode = lazy(
  async () => (await import('../../../components/unlock/SaveRecoveryCode.tsx')).SaveRecoveryCode,
)

/** Offers a recovery code on every page of the account until one is in effect. */
export function MissingRecoveryCode({ data, onChange }: SectionProps) {
  const words = useAccountWords().security
  const { session } = data
  if (session.recoveryCode?.confirmedAt !== null) return null
  const takeEffect = () => {
    const confirmedAt = new Date().toISOString()
    onChange((current) => ({
      ...current,
      recoverySince: confirmedAt,
      codeOpensKeys: true,
      session: { ...current.session, recoveryCode: { confirmedAt } },
    }))
    toast(words.codeInEffect)
  }
  return (
    <section class="card accent missing-code">
      <SaveRecoveryCode session={session} level={2} onSaved={takeEffect} />
    </section>
  )
}
