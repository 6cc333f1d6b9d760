import { useState } from 'preact/hooks'
import { isEmail } from '@countersign/protocol/formats/email'
import { call, Refused } from '../../lib/call.ts'
import { addressWithReturn, returnAddress } from '../../lib/return-address.ts'
import { ActionForm } from '../../components/form/Actions.tsx'
import { useDoing } from '../../components/form/doing.ts'
import { Field } from '../../components/form/Field.tsx'
import { Frame } from '../../components/frame/Frame.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { startSso } from '../../lib/start-sso.ts'
import { readSite } from '../../lib/view.ts'

/** Finds the organization that signs a person in, by the domain of their address there. */
export function FindOrganization() {
  const words = useWords()
  const doing = useDoing()
  const [email, setEmail] = useState('')
  const [problem, setProblem] = useState<string>()
  const returnTo = returnAddress(location.search, readSite())

  async function goOn() {
    if (!isEmail(email.trim())) return setProblem(words.problem.refused.invalid_email)
    try {
      const { loginUrl } = await call('POST /api/sso/discover', { body: { email: email.trim() } })
      // A user who was on the way to nothing else goes to their organization.
      const back = returnTo === '/account' ? undefined : new URL(returnTo, location.origin).href
      await startSso(loginUrl, { loginHint: email.trim(), returnTo: back })
    } catch (error) {
      if (!(error instanceof Refused && error.code === 'sso_not_found')) throw error
      setProblem(words.sso.unknownDomain)
    }
  }

  return (
    <Frame title={words.sso.title}>
      <section class="step">
        <h1>{words.sso.title}</h1>
        <ActionForm submit={{ name: 'sso', label: words.sso.goOn, do: goOn }} doing={doing}>
          <Field
            name="email"
            label={words.sso.email}
            value={email}
            problem={problem}
            onInput={(text) => {
              setEmail(text)
              setProblem(undefined)
            }}
            autocomplete="email"
            keys="email"
            exact
          />
        </ActionForm>
        <p class="otherwise">
          <a href={addressWithReturn('/login', returnTo)}>{words.login.signIn}</a>
        </p>
      </section>
    </Frame>
  )
}
