"""Django, in one file: one request submits a run, another waits for its result.

gunicorn django_app:web
noonmark worker django_app:app
"""

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path

from noonmark import App

app = App()


@app.task
def greet(name: str) -> str:
    return f"Hello, {name}!"


def submit(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"run": greet.sync.submit(name=request.GET["name"])}, status=202)


def read(request: HttpRequest, run_id: str) -> JsonResponse:
    return JsonResponse({"greeting": greet.sync.handle(run_id).result(timeout_s=10)})


urlpatterns = [path("greetings", submit), path("greetings/<run_id>", read)]
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="only for the example")
web = get_wsgi_application()
