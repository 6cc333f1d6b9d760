import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { ssoMessages as english } from '../../../en/pages/sign-in/sso.ts'
import { handleOf } from '../../format.ts'

/** Holds the messages for signing in with the SSO of an organization. In Arabic. */
export const ssoMessages: typeof english = {
  title: 'تسجيل الدخول عبر مؤسستك',
  lead: 'أدخل عنوان العمل. يؤدي نطاقه إلى تسجيل الدخول لدى شركتك.',
  email: 'عنوان البريد الإلكتروني للعمل',
  goOn: 'متابعة',
  unknownDomain: 'لا توجد مؤسسة تستخدم الدخول الموحّد (SSO) لنطاق البريد هذا.',
  connectTitle: 'ربط حسابك',
  says: (organization, person) => `تعرّفت ${isolate(organization)} عليك باسم ${isolate(person)}`,
  connectOnce: (organization) => `أكّد مرة واحدة بمفتاح المرور. بعد ذلك تسجّل ${isolate(organization)} دخولك.`,
  membersOnly: (organization) => `يجب أن تكون عضوًا في ${isolate(organization)}. اطلب دعوة.`,
  over: 'انتهت عملية تسجيل الدخول هذه',
  beginAgain: 'انتهت صلاحية الرابط أو سبق استخدامه. ارجع وابدأ من جديد.',
  tested: 'نجح تسجيل الدخول التجريبي',
  testedLead: (organization) => `هذا ما أرسله موفّر الهوية لدى ${isolate(organization)}. لم يُربط أي حساب.`,
  subject: 'المعرّف (Subject)',
  address: 'البريد الإلكتروني',
  name: 'الاسم',
  nothing: 'لا يوجد',
  verified: (email) => `${isolate(email)}، مؤكَّد`,
  unverified: (email) => `${isolate(email)}، غير مؤكَّد`,
  unverifiedHint: 'لا ينضم تلقائيًا إلا من يحدّد الموفّر عنوان بريده الإلكتروني على أنه مؤكَّد. أرسل دعوة إلى الآخرين.',
  toOrganizations: 'الانتقال إلى مؤسساتك',
  confirmTitle: 'تأكيد تسجيل الدخول',
  confirmAs: (person, organization) => `هل تريد المتابعة باسم ${isolate(person)} من ${isolate(organization)}؟`,
  signedInAs: (person, handle) => `سجّلت الدخول باسم ${isolate(person)} (${handleOf(handle)}).`,
  signsOut: (handle, other) =>
    `إذا تابعت، فسيُسجَّل الدخول في هذا المتصفح باسم ${handleOf(handle)}، ويُسجَّل خروج ${isolate(other)} هنا.`,
  startedElsewhere: 'بدأ رابط أو موقع آخر عملية تسجيل الدخول هذه.',
  signsIn: (handle) =>
    `إذا تابعت، فسيُسجَّل الدخول في هذا المتصفح باسم ${handleOf(handle)}. ألغِ العملية إذا لم تكن هذه هويتك.`,
  continueAs: (person) => `المتابعة باسم ${isolate(person)}`,
  stayAs: (person) => `البقاء باسم ${isolate(person)}`,
  cancel: 'إلغاء',
  leaveTitle: (host) => `هل تريد المتابعة إلى ${isolate(host)}؟`,
  leaveLead: (organization, host) =>
    `بدأ موقع آخر تسجيل دخول عبر ${isolate(organization)}. وهو يؤدي إلى ${isolate(host)}.`,
  leaveWarning: (host) =>
    'لم يتم التحقق من عملية تسجيل الدخول هذه. ' +
    `لا تتابع إلا إذا كنت تعرف ${isolate(host)}. لا تُدخل هناك أبدًا كلمة مرور خدمة أخرى.`,
  leaveTo: (host) => `المتابعة إلى ${isolate(host)}`,
}
