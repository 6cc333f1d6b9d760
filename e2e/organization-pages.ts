import type { Service } from '../server/testing/service.ts'
import type { Person } from './person.ts'

type Look = (name: string) => Promise<void>

/** Makes an organization, and looks at everything that its owner can do there. */
export async function walkOrganizations(person: Person, service: Service, look: Look): Promise<void> {
  const { page } = person
  const dialog = page.getByRole('dialog')
  await page.goto(`${service.businessUrl}/`)
  await person.control('new-organization').waitFor()
  await look('organizations-none')
  await person.press('new-organization')
  await person.control('create-organization').waitFor()
  await look('organizations-new')
  await person.press('create-organization')
  await page.locator('[aria-invalid="true"]').waitFor()
  await look('organizations-new-invalid')
  await person.write('name', 'The Society for Analytical Engines')
  await person.press('create-organization')
  await walkSettings(person, look)
  await person.press('switch-organization')
  await look('organizations-switch')
  await page.goto(`${service.businessUrl}/organizations`)
  await page.locator('.entry').waitFor()
  await look('organizations-list')
  await page.goto(`${service.businessUrl}/organizations/none`)
  await page.locator('h1').waitFor()
  await look('organizations-unknown')
  await page.goto(`${service.authUrl}/login?prove`)
  await person.control('prove').waitFor()
  await look('login-prove')
  await page.goto(`${service.businessUrl}/`)
  await person.control('end-organization').waitFor()
  await person.press('end-organization')
  await dialog.waitFor()
  await person.press('delete-organization')
  await dialog.locator('[aria-invalid="true"]').waitFor()
  await look('organizations-delete')
  await person.write('confirmation', 'The Society for Analytical Engines')
  await person.press('delete-organization')
  await dialog.waitFor({ state: 'detached' })
}

async function walkSettings(person: Person, look: Look): Promise<void> {
  const { page } = person
  await person.control('save-organization').waitFor()
  await look('organizations-settings')
  await person.write('slug', 'Not a slug')
  await person.press('save-organization')
  await page.locator('[aria-invalid="true"]').waitFor()
  await look('organizations-settings-invalid')
  await person.write('slug', 'engines')
  await person.press('save-organization')
  await page.locator('[role="status"] p').waitFor()
  await look('organizations-settings-saved')
}
