import { useState } from 'preact/hooks'
import { isEmail } from '@countersign/protocol/formats/email'
import { call, ApiError } from '../../lib/api/call.ts'
import { withReturnUrl, returnUrl } from '../../lib/navigation.ts'
import { ActionForm } from '../../components/form/Actions.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { Field } from '../../components/form/Field.tsx'
import { usePageWords } from './words.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { startSso } from '../../lib/session/start-sso.ts'
import { readSiteSettings } from '../../lib/page-data.ts'

/** Finds the organization whose SSO signs a user in, by the domain of their work e-mail address. */
export function SsoDiscovery() {
  const words = useMessages()
  const page = usePageWords()
  const doing = useActions()
  const [email, setEmail] = useState('')
  const [problem, setProblem] = useState<string>()
  const returnTo = returnUrl(location.search, readSiteSettings())

  async function goOn() {
    if (!isEmail(email.trim())) return setProblem(words.problem.refused.invalid_email)
    try {
      const { loginUrl } = await call('POST /api/sso/discover', { body: { email: email.trim() } })
      // Users who have no other destination go to their organization.
      const back = returnTo === '/account' ? undefined : new URL(returnTo, location.origin).href
      await startSso(loginUrl, { loginHint: email.trim(), returnTo: back })
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'sso_not_found')) throw error
      setProblem(page.unknownDomain)
    }
  }

  return (
    <PageLayout title={page.title} where>
      <section class="stack loose">
        <div class="stack tight">
          <h1>{page.title}</h1>
          <p class="lead">{page.lead}</p>
        </div>
        <ActionForm submit={{ name: 'sso', label: page.goOn, icon: 'building', do: goOn }} doing={doing}>
          <Field
            name="email"
            label={page.email}
            value={email}
            problem={problem}
            onInput={(text) => {
              setEmail(text)
              setProblem(undefined)
            }}
            autocomplete="email"
            keys="email"
            takesFocus
            exact
          />
        </ActionForm>
        <p class="otherwise">
          <a href={withReturnUrl('/login', returnTo)}>{words.login.signIn}</a>
        </p>
      </section>
    </PageLayout>
  )
}
