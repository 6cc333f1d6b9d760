import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { startService } from '../../server/testing/service.ts'
import { registerApp, registerCustomer, type Customer } from './customer.ts'

/** A service with so many customers, each with tokens, that ends with the test. */
export async function startWithCustomers(t: TestContext, count: number, environment: Record<string, string>) {
  const service = await startService({ environment: { LOG_LEVEL: 'error', ...environment } })
  t.after(() => service.close())
  const app = await registerApp(service)
  const customers: Customer[] = []
  for (let nth = 0; nth < count; nth += 1) {
    const customer = await registerCustomer(service, app)
    const lineage = await customer.consent()
    assert.ok(lineage)
    assert.equal((await customer.redeem(lineage))?.status, 200)
    customers.push(customer)
  }
  return { service, app, customers }
}
