import { businessMessages as business } from '../../web/locales/en/pages/business.ts'
import type { TestEnvironment } from '../fixtures/environment.ts'
import { watchSignatures } from '../fixtures/lying-service.ts'
import { foundOrganization } from './organization-choice.ts'
import { signChange } from './signed-actions.ts'

/** An owner on the settings of their organization. */
export async function openOwner(stage: TestEnvironment, handle: string) {
  const person = await stage.enroll({ handle, displayName: 'Ada Lovelace' })
  const organizationId = await foundOrganization(person, stage.service, 'Engines')
  const seen = await watchSignatures(person.page, /\/acts\/[0-9a-f-]+$/)
  const settings = `${stage.service.businessUrl}/organizations/${organizationId}/settings`
  await person.page.goto(settings)
  await person.control('save-organization').waitFor()
  /** Starts an act: a new name. */
  const rename = async (name: string) => {
    await person.page.goto(settings)
    await person.control('save-organization').waitFor()
    await person.write('name', name)
    await person.press('save-organization')
  }
  const readName = async () => {
    const { organizations } = await person.call(stage.service.businessUrl, 'GET /api/organizations')
    return organizations.find(({ id }) => id === organizationId)?.name
  }
  const keys = settings.replace('settings', 'keys')
  /** Lets members keep the keys of the organization. */
  const keepByMembers = async () => {
    await person.page.goto(keys)
    await person.press('change-keeper')
    await person.page.getByRole('radio', { name: business.keys.modes.e2ee }).check()
    await signChange(person, 'set-keeper')
  }
  return { person, page: person.page, organizationId, settings, keys, seen, rename, readName, keepByMembers }
}
