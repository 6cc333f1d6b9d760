import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { errorMessages as english } from '../../../en/pages/sign-in/error.ts'
import { formatWait } from '../../../locale.ts'

/** Holds the messages for error pages. In Arabic. */
export const errorMessages: typeof english = {
  forDevelopers: 'لمطوّر التطبيق',
  home: 'الانتقال إلى الصفحة الرئيسية',
  backTo: (host) => `الرجوع إلى ${isolate(host)}`,
  settings: 'أضِفه في إعدادات التطبيق',
  openSettings: 'افتح إعدادات التطبيق',
  nothingReceived: `بدون ${isolate('redirect_uri')}`,
  facts: { error: 'الخطأ', reason: 'السبب', clientId: 'معرّف العميل', redirectUri: 'العنوان المستلَم' },
  unregistered: (app) =>
    `أرسلك ${isolate(app)} إلى هنا مع عنوان رجوع لم يسجّله. ` +
    'أنت في أمان: لم تتم مشاركة أي شيء. يمكن لمطوّر التطبيق إصلاح ذلك.',
  nowhereToReturn: (app) =>
    `أرسلك ${isolate(app)} إلى هنا بدون عنوان رجوع. أنت في أمان: لم تتم مشاركة أي شيء. يمكن لمطوّر التطبيق إصلاح ذلك.`,
  deactivated: (service) => `تواصل مع المسؤول. لم يتغير حسابك في ${isolate(service)}.`,
  stuck: 'هل ما زالت المشكلة قائمة؟ أبلغ مشغّل هذه الخدمة واذكر هذا الرقم المرجعي:',
  titles: {
    not_found: 'لم يتم العثور على الصفحة',
    invalid_client: 'التطبيق غير متاح',
    invalid_redirect_uri: 'لا يمكن متابعة تسجيل الدخول هذا',
    invalid_request_uri: 'انتهت صلاحية تسجيل الدخول هذا',
    invalid_sso_flow: 'انتهت صلاحية تسجيل الدخول هذا',
    sso_connection_unavailable: 'الدخول الموحّد (SSO) غير متاح',
    sso_denied: 'رفضت مؤسستك تسجيل الدخول',
    sso_user_deactivated: 'ألغت مؤسستك تنشيط وصولك',
    account_suspended: 'هذا الحساب معلّق',
    sso_response_invalid: 'رد غير صالح من مؤسستك',
    sso_response_mismatch: 'يخص هذا الرد عملية تسجيل دخول أخرى',
    sso_provider_error: 'تسجيل الدخول لدى مؤسستك لا يعمل',
    sso_provider_timeout: 'تسجيل الدخول لدى مؤسستك لا يستجيب',
    too_many_pending: 'الطلبات المفتوحة كثيرة جدًا',
    rate_limited: 'الطلبات كثيرة جدًا',
    request_not_found: 'لم يتم العثور على طلب التوقيع',
    server_error: 'حدث خطأ من جانبنا',
    temporarily_unavailable: 'الخدمة غير متاحة مؤقتًا',
  },
  title: 'حدث خطأ',
  rateLimited: (seconds) => `انتظر ثم حاول مرة أخرى. المدة: ${formatWait(seconds, 'ar')}.`,
  hints: {
    not_found: 'تحقق من العنوان أو انتقل إلى الصفحة الرئيسية.',
    invalid_client: 'التطبيق الذي أرسلك إلى هنا غير مسجّل في هذه الخدمة أو معطّل. لم تتم مشاركة أي شيء. أبلغ مطوّره.',
    invalid_redirect_uri: 'أرسلك التطبيق إلى هنا مع عنوان رجوع لم يسجّله. لم تتم مشاركة أي شيء. أبلغ مطوّره.',
    invalid_request_uri: 'انتهت صلاحيته أو سبق استخدامه. ارجع إلى التطبيق وسجّل الدخول من جديد.',
    invalid_sso_flow: 'انتهت صلاحيته أو سبق استخدامه أو بدأ في متصفح آخر. ارجع وابدأ من جديد.',
    sso_connection_unavailable: 'أوقفته مؤسستك. تواصل مع المسؤول.',
    sso_denied: 'حاول مرة أخرى بحساب العمل، أو تواصل مع المسؤول.',
    account_suspended: 'علّقه مشغّل هذه الخدمة. تواصل مع المشغّل.',
    sso_response_invalid: 'توقفنا حفاظًا على أمانك. يمكن للمسؤول رؤية السبب في سجل تدقيق المؤسسة.',
    sso_response_mismatch: 'توقفنا حفاظًا على أمانك. ارجع وابدأ من جديد.',
    sso_provider_error: 'حاول مرة أخرى بعد قليل. يمكن للمسؤول رؤية السبب في سجل تدقيق المؤسسة.',
    sso_provider_timeout: 'حاول مرة أخرى بعد قليل. يمكن للمسؤول رؤية السبب في سجل تدقيق المؤسسة.',
    too_many_pending: 'يطلب عدد كبير من أجهزتك فتح قفلها. انتظر بضع دقائق ثم حاول مرة أخرى.',
    request_not_found: 'لا يؤدي الرابط إلى طلب توقيع. ارجع إلى التطبيق وحاول مرة أخرى.',
    server_error: 'حاول مرة أخرى بعد قليل. إذا تكرر الخطأ، فأرسل الرقم المرجعي أدناه إلى مشغّل الخدمة.',
    temporarily_unavailable: 'حاول مرة أخرى بعد قليل.',
  },
}
