/* Functions of a library that throw exceptions, and let them pass. */
#include "callee.h"
#include <stdexcept>
#include <string>
void callee_throw(int value)
{
    if (value % 2)
        throw std::runtime_error(std::to_string(value));
}
int callee_catch(int (*function)(int), int value)
{
    try {
        return function(value);
    } catch (int &v) {
        return v + 1;
    }
}
