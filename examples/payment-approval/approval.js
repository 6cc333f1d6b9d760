import { CountersignError } from '@countersign/sdk/server'
import { textOf } from './payments.js'

const reasons = { denied: 'You denied it.', expired: 'It was not signed in time.' }

/** Asks the person to sign a payment, pays it when they have, and answers the page to sign on. */
export async function beginApproval(countersign, payments, payment, identityId) {
  // Who closed the window may come back to the same request. While it waits there is no second one.
  if (payment.request) return payment.request.signingUrl
  if (payment.state !== 'open') throw new Error('This payment is not open')
  payments.ask(payment)
  try {
    const request = await countersign.createSigningRequest({ identityId, payload: textOf(payment) })
    payments.ask(payment, request)
    payment.settled = settle(countersign, payments, payment, request)
    return request.signingUrl
  } catch (error) {
    payments.reopen(payment, explain(error))
    throw error
  }
}

/** Never fails: whatever is no verified signature leaves the payment unpaid, and says why. */
async function settle(countersign, payments, payment, request) {
  try {
    const outcome = await countersign.waitForSignature(request)
    if (outcome.status === 'signed') payments.pay(payment, outcome)
    else payments.reopen(payment, reasons[outcome.status])
  } catch (error) {
    payments.reopen(payment, explain(error))
  }
}

function explain(error) {
  return error instanceof CountersignError ? `Not paid: ${error.description}` : 'Not paid: something went wrong here.'
}
